"""What agents are told of a room: previews, summaries, resets, on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from groupx_shared.wire.base import RequestModel, WireModel
from groupx_shared.wire.requests import CommandId


def _whole(number: object) -> object:
    """JSON has one kind of number: 3.0 is 3."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


class CompactContext(RequestModel):
    """`POST /api/rooms/{roomId}/context/compact`."""

    client_command_id: CommandId
    keep: Annotated[int, Field(ge=0, le=1_000), BeforeValidator(_whole)] = 12
    """So many of the newest messages stay as they are."""


class ResetContext(RequestModel):
    """`POST /api/rooms/{roomId}/context/reset`."""

    client_command_id: CommandId
    native_sessions: bool = True
    """Agents begin new native sessions too, which know nothing of before."""


class CompactionInfo(WireModel):
    """How a compaction stands."""

    operation_id: str
    phase: Literal["started", "retrying", "completed", "failed", "interrupted"]
    cause: Literal["turn", "asked", "behind"] = "turn"
    """A turn waits for it, a person asked for it, or it goes on behind turns."""
    step: Literal["days", "summary"] = "summary"
    """While it runs: agents write down their days first, or the summary is being written."""
    part: int = 1
    parts: int = 1
    """Which part, of about how many, it is at."""
    kept_parts: int = 0
    """Parts whose summary is kept, whatever becomes of the others."""
    from_seq: int | None = None
    through_seq: int | None = None
    """What the newest part's summary covers."""
    message_count: int = 0
    """Messages that are being summed up; at the end, of all parts."""
    source_characters: int = 0
    """Of these messages."""
    attempt: int = 1
    max_attempts: int = 1
    generator_actor_id: str | None = None
    """Who writes it, or wrote it."""
    summary_characters: int | None = None
    usage: dict[str, Any] = Field(default_factory=dict)
    """What the newest part's summary cost, as far as its agent told."""
    started_at: str | None = None
    ended_at: str | None = None
    has_no_writer: bool = False
    """No agent of the room writes summaries: turns go on and say what they leave out."""
    error_code: str | None = None
    error_message: str | None = None


class CompactionBody(CompactionInfo):
    """`context.compaction.*`: a room is being summed up, and how that ended."""

    room_id: str


class ResetBody(WireModel):
    """`context.reset`: what was said up to here is not told to agents any more."""

    through_seq: int
    reset_native_sessions: bool


class RedactedBody(WireModel):
    """`content.redacted`: a person had a text removed for good, with what was made from it."""

    kind: Literal["event", "memory", "identity", "side"]
    """`side`: of the conversation with the room assistant."""
    ref_id: str
    """Of the event, record or message."""
    event_ids: tuple[str, ...] = ()
    """Events that hold a tombstone now."""
    record_ids: tuple[str, ...] = ()
    """Memory and identity records that hold one."""
    summaries: int = 0
    """Summaries of the room that were thrown away."""
    days: int = 0
    """Days that agents had written down and write down anew."""
    quote_event_ids: tuple[str, ...] = ()
    """Events from which quotes of it were cut."""


class SummaryReply(WireModel):
    """`GET /api/rooms/{roomId}/context/summary`: what stands for the room's older messages."""

    room_id: str
    exists: bool
    """False: nothing is summed up; the other fields are empty."""
    summary_id: str | None = None
    from_seq: int | None = None
    through_seq: int | None = None
    message_count: int = 0
    """Messages that it stands for."""
    message_characters: int = 0
    """Of these messages."""
    author_actor_id: str | None = None
    created_at: str | None = None
    characters: int = 0
    content: str = ""


class CompactionReply(WireModel):
    """`POST /api/rooms/{roomId}/context/compact`."""

    accepted: bool
    """False: there is nothing to compact."""
    operation_id: str | None = None


class LeftOutInfo(WireModel):
    """Something that did not fit into a packet."""

    id: str
    """Event, memory or identity id."""
    characters: int


class SectionInfo(WireModel):
    """One section of a packet."""

    name: str
    characters: int
    mandatory: bool
    included: int
    omitted: int = 0
    """How many records or messages did not fit."""
    left_out: tuple[LeftOutInfo, ...] = ()
    """The first of them."""


class ContextPreview(WireModel):
    """`GET /api/rooms/{roomId}/context`: what an agent would be sent now."""

    room_id: str
    actor_id: str
    session: Literal["new", "continued"]
    """A new native session is told the room's past; a continued one what it was not told yet."""
    text: str
    characters: int
    soft_characters: int
    """Optional sections stay below this; more that was not told yet is summed up first."""
    max_characters: int
    through_seq: int
    summary_through_seq: int | None = None
    sections: tuple[SectionInfo, ...]
    needs_compaction: bool
    """Messages are left out: before the turn they would be summed up."""


class ResetReply(WireModel):
    """`POST /api/rooms/{roomId}/context/reset`."""

    reset: bool
    """False: nothing was said since the last one."""
    through_seq: int


class DayInfo(WireModel):
    """What an agent wrote of one of its days in one room, and what still waits of it."""

    room_id: str
    actor_id: str
    day: str
    """`2026-11-30`, in the server's time zone."""
    memory_id: str | None = None
    """The record; absent while nothing is written, or nothing was worth it."""
    characters: int = 0
    """Of the record."""
    written_at: str | None = None
    turns: int = 0
    """Completed turns of the day."""
    waiting_turns: int = 0
    """Of them, those that are not written down yet."""
    waiting_characters: int = 0
    failures: int = 0
    """In a row."""
    next_attempt_at: str | None = None
    """After a failure: it is tried again then."""
    error_code: str | None = None


class DayList(WireModel):
    """`GET /api/days`, the newest first."""

    days: tuple[DayInfo, ...]
