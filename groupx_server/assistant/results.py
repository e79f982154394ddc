"""What the operator's tools give back; bounded, with where to go on."""

from __future__ import annotations

from pydantic import ConfigDict

from groupx_server.rooms.toolresults import ReadEvent
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.replies import RoomInfo


class Result(WireModel):
    """A result whose keys are those of the HTTP interface's reply to the same command."""

    model_config = ConfigDict(extra="allow")


class OpenTurn(WireModel):
    """A turn that waits or runs."""

    turn_id: str
    agent: str
    room_id: str
    status: str
    correlation_id: str
    since: str
    queue_position: int | None = None


class RosterResult(WireModel):
    """`roster`."""

    rooms: tuple[RoomInfo, ...]
    agents: tuple[AgentInfo, ...]
    """Every agent of the config with its state of this moment."""
    open_turns: tuple[OpenTurn, ...]


class EventsResult(WireModel):
    """`read`."""

    room_id: str
    events: tuple[ReadEvent, ...]
    """Newest first."""
    next_before_seq: int | None = None
    """There are older ones: `read` with this as beforeSeq."""
