"""One ACP session: what it remembers and the one turn it may be working on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from groupx_server.builtin_agent.history import History
from groupx_server.builtin_agent.model_turn import Outcome
from groupx_server.builtin_agent.rpc import RpcError


class RunningTurn:
    """A turn from its request to its answer. `cancel` may come at any moment, also before the
    work has begun."""

    def __init__(self) -> None:
        self._work: asyncio.Task[Outcome | RpcError] | None = None
        self.is_cancelled = False

    def attach(self, work: asyncio.Task[Outcome | RpcError]) -> None:
        """Tell which task does the work."""
        self._work = work
        if self.is_cancelled:
            work.cancel()

    def cancel(self) -> None:
        """End the work; the turn then answers `cancelled`."""
        self.is_cancelled = True
        if self._work is not None:
            self._work.cancel()


@dataclass(slots=True)
class Session:
    """State of one session, in memory only."""

    session_id: str
    history: History
    room_id: str | None = None
    actor_id: str | None = None
    purpose: str | None = None
    """Of a session that is not a room's: a text is to be written (a summary)."""
    turns: int = 0
    running: RunningTurn | None = None
