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


class PairedState(WireModel):
    """A worker's or an observer's turn."""

    agent: str
    turn_id: str
    status: str
    steer_count: int = 0
    """How often observers have steered it."""
    last_steer_reason: str | None = None


class PairState(WireModel):
    """Who watches whom."""

    pair_id: str
    room_id: str
    correlation_id: str
    mode: str
    created_at: str
    workers: tuple[PairedState, ...]
    observers: tuple[PairedState, ...]


class PairsResult(WireModel):
    """`supervision_status`."""

    pairs: tuple[PairState, ...]
    """Newest first, at most 20."""


class EventsResult(WireModel):
    """`read`."""

    room_id: str
    events: tuple[ReadEvent, ...]
    """Newest first."""
    next_before_seq: int | None = None
    """There are older ones: `read` with this as beforeSeq."""
