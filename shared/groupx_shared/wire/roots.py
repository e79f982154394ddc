"""Roots on the wire: what one message led to, as a whole."""

from __future__ import annotations

from typing import Final, Literal

from groupx_shared.wire.base import WireModel
from groupx_shared.wire.replies import CancelReply, TurnInfo, UsageTotals

MAX_ROOTS: Final = 100
"""Of one page."""
RootStatus = Literal["open", "stopped", "ended"]


class RootInfo(WireModel):
    """One root: the message that began it, and how far its turns are."""

    correlation_id: str
    room_id: str
    message_event_id: str
    """The message that began it."""
    actor_id: str
    """Who wrote that message."""
    actor_name: str
    excerpt: str
    """Beginning of the message, one line."""
    occurred_at: str
    status: RootStatus
    """open: turns wait or run; stopped: a limit stopped it and a person may let it go on."""
    agents: tuple[str, ...] = ()
    """Who worked on it, in the order of their first turns."""
    turns: int = 0
    open_turns: int = 0
    failed_turns: int = 0
    """Turns that did not complete."""
    stops: tuple[str, ...] = ()
    """Kinds of limits that stopped it and were not answered yet."""


class RootList(WireModel):
    """`GET /api/roots`: newest first."""

    roots: tuple[RootInfo, ...]
    next_before: int | None = None
    """Pass as `before` to get older ones; absent at the end."""


class RootReply(WireModel):
    """`GET /api/roots/{correlationId}`."""

    root: RootInfo
    turns: tuple[TurnInfo, ...]
    """In the order of their queues; `parentTurnId` says which turn's agent called. At most 500."""
    usage: UsageTotals


class RootCancelled(WireModel):
    """`POST /api/roots/{correlationId}/cancel`."""

    correlation_id: str
    room_id: str
    turns: tuple[CancelReply, ...] = ()
    """The turns that were open, and what became of each."""
