"""What the guide works with during one turn."""

from __future__ import annotations

from dataclasses import dataclass

from groupx_server.builtin_agent.history import History
from groupx_server.builtin_agent.model_finder import ModelFinder
from groupx_server.builtin_agent.room_api import RoomApi
from groupx_server.builtin_agent.settings import Settings
from groupx_server.builtin_agent.updates import TurnSink


@dataclass(frozen=True, slots=True)
class Desk:
    """One turn's surroundings. `api` is None when the agent was started without a server."""

    sink: TurnSink
    api: RoomApi | None
    room_id: str | None
    actor_id: str | None
    current: str
    """The message that is being answered; a search must not find it."""
    finder: ModelFinder
    settings: Settings
    history: History
