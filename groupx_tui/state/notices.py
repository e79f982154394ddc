"""Which events become a line of the timeline, and its words.

Silent: what only moves a turn (it shows in the turn's block), an agent's first session, what
agents remember by themselves after each turn, each look of an observer, and every transient
event. Any other durable event becomes a line, whether or not this version knows its type: what is
in the ledger is never invisible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from groupx_shared.text import safe_line
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import (
    LoopContinuedBody,
    LoopStoppedBody,
    NudgedBody,
    ObservedBody,
    OperatorActedBody,
    PairedBody,
    PairedTurn,
    RecordBody,
    RoomBody,
    SessionBody,
    SteeredBody,
)
from groupx_shared.wire.context import RedactedBody, ResetBody
from groupx_shared.wire.events import TRANSIENT_TYPES, Event, EventType
from groupx_tui.state.clean import author_of, clean_id, clean_name, optional_line
from groupx_tui.state.model import NoticeBlock, Pair

Tone = Literal["info", "warning", "error"]

LOST_SESSION: Final = "new_after_resume_failure"
"""The continuity of a session that took the place of one that could not be taken up."""
MAX_NOTICE_CHARS: Final = 400
MAX_EXCERPT_CHARS: Final = 160
MAX_NAMES: Final = 8
_EXCERPT_KEYS: Final = ("content", "title", "message", "reason", "errorMessage", "errorCode")
"""Where an unknown body most likely says something that people can read."""

_ROOM_SENTENCES: Final = {
    EventType.ROOM_CREATED: "{name} made this room: {title}",
    EventType.ROOM_ARCHIVED: "{name} archived this room",
    EventType.ROOM_RESTORED: "{name} restored this room from the archive",
}

_RECORD_SENTENCES: Final = {
    EventType.MEMORY_REMEMBERED: "{name} remembered: {content}",
    EventType.MEMORY_SUPERSEDED: "{name} corrected a memory: {content}",
    EventType.MEMORY_RETRACTED: "{name} took a memory back",
    EventType.MEMORY_PINNED: "{name} pinned a memory: it always goes along",
    EventType.MEMORY_UNPINNED: "{name} unpinned a memory",
    EventType.IDENTITY_REMEMBERED: "{name} noted about {subject}: {content}",
    EventType.IDENTITY_SUPERSEDED: "{name} corrected a note about {subject}: {content}",
    EventType.IDENTITY_RETRACTED: "{name} took a note about {subject} back",
}
_LOOP_TYPES: Final[dict[str, Literal["stopped", "continued"]]] = {
    EventType.ROUTING_LOOP_STOPPED: "stopped",
    EventType.ROUTING_LOOP_CONTINUED: "continued",
}
_BY_ITSELF: Final = "automatic"
"""Source kinds of records that nobody wrote by hand begin so."""


def notice_of(event: Event, body: WireModel | None, seq: int) -> NoticeBlock | None:
    """Return the line for an event that is neither a message nor part of a turn; None when it is
    silent. `body` is None when the type is unknown or the body does not fit it."""
    text, tone = _generic(event) if body is None else _known(event, body)
    if not text:
        return None
    return NoticeBlock(
        block_id=f"note:{clean_id(event.event_id)}",
        order_seq=seq,
        at=optional_line(event.occurred_at) or "",
        text=safe_line(text, MAX_NOTICE_CHARS),
        tone=tone,
        root_id=clean_id(event.correlation_id),
        loop=_LOOP_TYPES.get(event.type, ""),
        pair=_pair(body) if isinstance(body, PairedBody) else None,
    )


def _pair(body: PairedBody) -> Pair:
    return Pair(
        source_event_id=clean_id(body.source_event_id),
        watch_event_id=clean_id(body.watch_event_id),
        workers=tuple(clean_id(turn.actor_id) for turn in body.workers),
        observers=tuple(clean_id(turn.actor_id) for turn in body.observers),
        worker_turns=tuple(clean_id(turn.turn_id) for turn in body.workers),
        observer_turns=tuple(clean_id(turn.turn_id) for turn in body.observers),
    )


def _known(event: Event, body: WireModel) -> tuple[str, Tone]:
    match body:
        case RoomBody():
            return _room(event, body), "info"
        case SessionBody():
            return _session(event, body)
        case RecordBody():
            return _record(event, body), "info"
        case LoopStoppedBody():
            return safe_line(body.message, MAX_NOTICE_CHARS), "warning"
        case LoopContinuedBody():
            return f"{author_of(event.actor).name} let the agents go on", "info"
        case ResetBody():
            return f"{author_of(event.actor).name} let agents begin anew from here", "info"
        case RedactedBody():
            return f"{author_of(event.actor).name} had a text removed for good", "info"
        case OperatorActedBody():
            return f"{author_of(event.actor).name}: {body.summary}", "info"
        case PairedBody() | SteeredBody() | ObservedBody() | NudgedBody():
            return _supervision(event, body)
        case _:
            return ("", "info") if event.type in TRANSIENT_TYPES else _generic(event)


def _room(event: Event, body: RoomBody) -> str:
    name = author_of(event.actor).name
    if event.type == EventType.ROOM_RENAMED:
        before = f" (was: {clean_name(body.previous_title)})" if body.previous_title else ""
        return f"{name} renamed this room: {clean_name(body.title)}{before}"
    sentence = _ROOM_SENTENCES[EventType(event.type)]
    return sentence.format(name=name, title=clean_name(body.title))


def _session(event: Event, body: SessionBody) -> tuple[str, Tone]:
    name = author_of(event.actor).name
    if body.phase == "failed":
        why = body.error_message or body.error_code or "no reason was given"
        return f"{name} could not start a session: {safe_line(why, MAX_NOTICE_CHARS)}", "error"
    told = []
    if body.phase == "resumed":
        told.append("took up its earlier session again")
    elif body.continuity == LOST_SESSION:
        told.append("has a new session, with what was said here, for its earlier one is lost")
    if body.tools_problem:
        told.append(f"works without the room's tools: {body.tools_problem}")
    sentence = safe_line(f"{name} {'; '.join(told)}", MAX_NOTICE_CHARS) if told else ""
    return sentence, "warning" if body.tools_problem else "info"


def _supervision(
    event: Event, body: PairedBody | SteeredBody | ObservedBody | NudgedBody
) -> tuple[str, Tone]:
    """Advice by an agent is shown as that, with its reason; that an observer looked is not."""
    name = author_of(event.actor).name
    match body:
        case PairedBody():
            return f"{_handles(body.observers)} watches {_handles(body.workers)}", "info"
        case SteeredBody(action="interrupt"):
            whom = _handle(body.subject_actor_id or "") or "an agent"
            return f"{name} stopped the turn of {whom}: {_reason(body)}", "warning"
        case SteeredBody():
            return f"advice by {name}: {_reason(body)}", "info"
        case NudgedBody(outcome="unknown"):
            return f"whether the advice by {name} arrived is not known; it is not sent again", (
                "warning"
            )
        case _:
            return "", "info"


def _reason(body: SteeredBody) -> str:
    return safe_line(body.reason, MAX_EXCERPT_CHARS) or "no reason was given"


def _handles(turns: Sequence[PairedTurn]) -> str:
    names = list(dict.fromkeys(_handle(turn.actor_id) for turn in turns[:MAX_NAMES]))
    return ", ".join(names) or "nobody"


def _handle(actor_id: str) -> str:
    return clean_name(actor_id.rpartition(":")[2])


def _record(event: Event, body: RecordBody) -> str:
    if _string(body.record, "sourceKind").startswith(_BY_ITSELF):
        return ""
    sentence = _RECORD_SENTENCES.get(EventType(event.type), "")
    subject = _string(body.record, "subjectActorId").rpartition(":")[2]
    return sentence.format(
        name=author_of(event.actor).name,
        subject=safe_line(subject, 64) or "somebody",
        content=safe_line(_string(body.record, "content"), MAX_EXCERPT_CHARS),
    )


def _string(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _generic(event: Event) -> tuple[str, Tone]:
    excerpt = _excerpt(event.body)
    line = f"{safe_line(event.type, 64) or 'event'} · {author_of(event.actor).name}"
    return (f"{line} · {excerpt}" if excerpt else line), "info"


def _excerpt(body: dict[str, Any]) -> str:
    for key in _EXCERPT_KEYS:
        value = body.get(key)
        if isinstance(value, str) and value.strip():
            return safe_line(value, MAX_EXCERPT_CHARS)
    return ""
