"""A snapshot of a watched turn as its observer is told of it, within the bounds of a result."""

from __future__ import annotations

from typing import Final

from groupx_server.domain.steps import Step
from groupx_server.ledger.correlation import ToldEvent
from groupx_server.ledger.watches import Snapshot
from groupx_server.rooms.readpages import provenance_of
from groupx_server.rooms.toldtext import sender_kind
from groupx_server.rooms.watchresults import (
    WatchedMessage,
    WatchedStep,
    WatchedTask,
    WatchResult,
)
from groupx_shared.text import safe_line

EXCERPT_CHARS: Final = 500
ENDED_NOTE: Final = (
    "This turn has ended. When all that you watch have ended, say in your final answer what you "
    "saw and did."
)
QUIET_NOTE: Final = "Nothing happened meanwhile. Watch again, or end your turn if that is enough."


def watch_result(
    snapshot: Snapshot, task: ToldEvent | None, limit: int, *, timed_out: bool
) -> WatchResult:
    """Put it together. `limit`: how often one turn may be steered."""
    watching = snapshot.watching
    subject = watching.subject
    note = ENDED_NOTE if snapshot.is_ended else QUIET_NOTE if timed_out else None
    return WatchResult.model_validate(
        {
            "subject_turn_id": subject.turn_id,
            "subject": subject.actor_id,
            "status": snapshot.status,
            "delivery_certainty": snapshot.certainty,
            "terminal": snapshot.is_ended,
            "subject_cancelled": snapshot.status in ("cancelled", "cancelling"),
            "error_code": snapshot.error_code,
            "started_at": snapshot.started_at,
            "task": None if task is None else _task(task),
            "steps": tuple(map(_step, snapshot.steps)),
            "messages": tuple(map(_message, snapshot.messages)),
            "saying": _end(snapshot.saying) or None,
            "has_more": snapshot.has_more,
            "timed_out": timed_out,
            "steer_count": snapshot.steer_count,
            "steers_left": max(0, limit - snapshot.steer_count),
            "last_steer_reason": snapshot.last_reason,
            "cursor": f"{snapshot.seen.step}-{snapshot.seen.seq}",
            "other_subject_turn_ids": tuple(
                other.turn_id for other in watching.pair.subjects if other != subject
            ),
            "note": note,
        }
    )


def _step(step: Step) -> WatchedStep:
    return WatchedStep(
        kind=step.kind,
        at=step.at,
        tool_call_id=step.tool_call_id,
        tool=step.tool,
        status=step.status,
        answer_chars=step.chars,
    )


def _message(event: ToldEvent) -> WatchedMessage:
    return WatchedMessage(
        event_id=event.event_id,
        provenance=provenance_of(event),
        sender=event.actor_id,
        sender_kind=sender_kind(event.actor_id, event.actor_kind),
        at=event.occurred_at,
        excerpt=_start(event),
    )


def _task(event: ToldEvent) -> WatchedTask:
    return WatchedTask(
        event_id=event.event_id, provenance=provenance_of(event), excerpt=_start(event)
    )


def _start(event: ToldEvent) -> str:
    return safe_line(str(event.body.get("content", "")), EXCERPT_CHARS)


def _end(text: str) -> str:
    line = " ".join(text[-4 * EXCERPT_CHARS :].split())
    return line if len(line) <= EXCERPT_CHARS else f"…{line[-EXCERPT_CHARS:]}"
