"""The result of `ask` and `collect`: what became of each turn, within the bounds of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from groupx_server.ledger.outcomes import Outcome
from groupx_server.rooms.toldtext import LEAST_CHARS, RESULT_CHARS, part_of, provenance
from groupx_server.rooms.toolresults import AskOutcome, AskResult
from groupx_shared.english import counted
from groupx_shared.text import safe_line

Status = Literal["completed", "failed", "cancelled", "interrupted", "pending"]

NOTE_CHARS: Final = 500
_ENDED: Final[dict[str, Status]] = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted",
}
PENDING_NOTE: Final = (
    "Not all have answered. They go on by themselves: call “collect” with this messageEventId to "
    "wait again, or end your turn; their answers are posted in the room. Do not ask again."
)


def ask_result(
    event_id: str, correlation_id: str, outcomes: Sequence[Outcome], note: str | None = None
) -> AskResult:
    """Put it together; long answers are cut, each with where to read on."""
    share = max(LEAST_CHARS, RESULT_CHARS // max(1, len(outcomes)))
    is_done = all(outcome.has_ended for outcome in outcomes)
    return AskResult(
        message_event_id=event_id,
        correlation_id=correlation_id,
        state="terminal" if is_done else "pending",
        results=tuple(_told(outcome, share) for outcome in outcomes),
        note=note or (None if is_done else PENDING_NOTE),
    )


def _told(outcome: Outcome, max_chars: int) -> AskOutcome:
    answer = outcome.answer
    part = None if answer is None else part_of(answer.content, max_chars)
    return AskOutcome(
        target=outcome.actor_id,
        turn_id=outcome.turn_id,
        status=_ENDED.get(outcome.status, "pending"),
        queue_position=outcome.queue_position,
        active_turn_id=outcome.active_turn_id,
        response_event_id=None if answer is None else answer.event_id,
        content=None if part is None else part.text,
        next_offset=None if part is None else part.next_offset,
        provenance=(
            None
            if answer is None
            else provenance(answer.event_id, outcome.actor_id, "agent", outcome.actor_name)
        ),
        error_code=outcome.error_code,
        note=_note(outcome),
    )


def _note(outcome: Outcome) -> str | None:
    if outcome.status == "queued" and outcome.queue_position:
        return (
            f"{outcome.actor_id} works on something else; before this one it has "
            f"{counted(outcome.queue_position, 'open turn')}."
        )
    if outcome.error_message is not None:
        return safe_line(outcome.error_message, NOTE_CHARS)
    return None
