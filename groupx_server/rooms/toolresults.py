"""What the room's tools give back to agents, one model for each shape (docs/MCP.md lists them).

Every text that somebody wrote stands beside a `provenance` line, and every list or text that may
be long is bounded, with a cursor for the rest.
"""

from __future__ import annotations

from typing import Literal

from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import TurnStatus
from groupx_shared.wire.replies import QueuedTurn

SenderKind = Literal["person", "agent", "groupx"]


class PublishResult(WireModel):
    """`publish`."""

    message_event_id: str
    correlation_id: str


class SendResult(PublishResult):
    """`send`."""

    turns: tuple[QueuedTurn, ...]
    """One for each agent that was woken: its place in the queue, and what is before it."""
    observers: tuple[QueuedTurn, ...] = ()
    """The turns of those that watch them."""
    note: str | None = None


class AskOutcome(WireModel):
    """What became of one agent's turn."""

    target: str
    turn_id: str
    status: Literal["completed", "failed", "cancelled", "interrupted", "pending"]
    queue_position: int = 0
    """Open turns of that agent before this one."""
    active_turn_id: str | None = None
    """What that agent works on now; it may be this turn."""
    response_event_id: str | None = None
    content: str | None = None
    """The answer. It is what that agent says, not an instruction of GroupX."""
    next_offset: int | None = None
    """The answer is longer: `read` with responseEventId as eventId and this offset."""
    provenance: str | None = None
    error_code: str | None = None
    note: str | None = None


class AskResult(PublishResult):
    """`ask` and `collect`."""

    state: Literal["terminal", "pending"]
    """terminal: every turn has ended."""
    results: tuple[AskOutcome, ...]
    observers: tuple[QueuedTurn, ...] = ()
    """The turns of those that watch them; they are not waited for."""
    note: str | None = None


class ReadEvent(WireModel):
    """One event of a root."""

    seq: int
    event_id: str
    type: str
    provenance: str
    sender: str
    sender_kind: SenderKind
    at: str
    to: tuple[str, ...] = ()
    reply_to_event_id: str | None = None
    turn_id: str | None = None
    status: str | None = None
    error_code: str | None = None
    content: str | None = None
    next_offset: int | None = None
    """The text is longer: `read` with this eventId and this offset."""


class ReadTurn(WireModel):
    """One turn of a root."""

    target: str
    turn_id: str
    status: TurnStatus
    parent_turn_id: str | None = None
    response_event_id: str | None = None
    error_code: str | None = None


class ReadResult(WireModel):
    """`read`."""

    correlation_id: str
    events: tuple[ReadEvent, ...]
    turns: tuple[ReadTurn, ...]
    next_after_seq: int | None = None
    """There are more events: `read` with this as afterSeq."""


class TextResult(WireModel):
    """`read` with an `eventId`: a part of one text."""

    event_id: str
    provenance: str
    offset: int
    total: int
    """Characters of the whole text."""
    content: str
    next_offset: int | None = None


class TurnStatusResult(WireModel):
    """`turn_status`."""

    turn_id: str
    target: str
    status: TurnStatus
    correlation_id: str
    parent_turn_id: str | None = None
    source_event_id: str
    queue_position: int | None = None
    active_turn_id: str | None = None
    queued_at: str
    started_at: str | None = None
    terminal_at: str | None = None
    response_event_id: str | None = None
    error_code: str | None = None
    note: str | None = None
    called: tuple[ReadTurn, ...] = ()
    """The turns that this turn caused."""


class RosterAgent(WireModel):
    """One agent of the workspace."""

    actor_id: str
    name: str
    is_you: bool = False
    status: str
    """As people see it: ready, working, waiting, stopped (starts when it is called), disabled…"""
    detail: str | None = None
    queued_turns: int = 0
    active_turn_id: str | None = None
    active_since: str | None = None
    doing: str | None = None
    """Beginning of the message that it works on, when that is in this room."""
    provenance: str | None = None
    """Of `doing`."""


class RosterResult(WireModel):
    """`roster`."""

    room_id: str
    room_title: str
    agents: tuple[RosterAgent, ...]
    people: tuple[str, ...] = ()


class SearchHit(WireModel):
    """One message that was found."""

    seq: int
    event_id: str
    provenance: str
    sender: str
    sender_kind: SenderKind
    at: str
    correlation_id: str
    excerpt: str


class SearchResult(WireModel):
    """`search`."""

    hits: tuple[SearchHit, ...]
    """The best first."""
    next_cursor: str | None = None
    """There are more: search the same with this cursor."""
    capped: bool = False
    """The query was too wide to look at everything; add rarer words."""
    behind: int = 0
    """Messages that the index does not have yet; 0: all were looked at."""
    meaning_problem: str | None = None
    """Why words alone decided, where what texts mean should count too."""
