"""The end of a turn: one transaction, once (contract §9, seed: terminal transaction).

Order of its events: reasoning, tools, response (completed only), terminal. The terminal event's
idempotency key `turn:<id>:terminal` is unique in the room whatever its type, so that not even a
bug can end a turn twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from groupx_server.domain.limits import Limits
from groupx_server.domain.steps import Step
from groupx_server.domain.turn import Certainty, TransitionError, TurnStatus, may_complete
from groupx_server.ledger.days import Answer, note_turn
from groupx_server.ledger.dispatch import advance_cursor
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.steps import note_end
from groupx_server.ledger.turns import unknown_turn
from groupx_server.ledger.usage import add_usage
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.text import clip_text
from groupx_shared.wire.events import EventType

TEXT_PART_CHARS: Final = 65_536
"""Whole texts are kept in parts of this size: a row stays small enough to read and write fast."""

_TYPES: Final = {
    TurnStatus.COMPLETED: EventType.TURN_COMPLETED,
    TurnStatus.FAILED: EventType.TURN_FAILED,
    TurnStatus.CANCELLED: EventType.TURN_CANCELLED,
    TurnStatus.INTERRUPTED: EventType.TURN_INTERRUPTED,
}


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """One tool call to record: wire `ToolDetails` as `details`, and when it started."""

    call_id: str
    at: str
    details: dict[str, Any]
    has_ended: bool = True


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended and what it leaves. Texts are cleaned already."""

    turn_id: str
    status: TurnStatus
    answer: str = ""
    reasoning: str = ""
    reasoning_cut: bool = False
    reasoning_ms: int | None = None
    tools: Sequence[ToolEnd] = ()
    plan: Sequence[dict[str, str]] = ()
    error_code: str | None = None
    error_message: str | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    duration_ms: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    reconciliation: str | None = None
    steps: Sequence[Step] = ()
    """Of a watched turn: those that are not on disk yet."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The ids that the terminal wrote; `status` is the one on disk, also when the turn had ended
    before (`is_new` false)."""

    turn_id: str
    status: TurnStatus
    is_new: bool
    terminal_event_id: str | None = None
    response_event_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn's row with its open attempt, as the terminal needs them."""

    turn_id: str
    room_id: str
    actor_id: str
    source_event_id: str
    correlation_id: str
    status: TurnStatus
    terminal_event_id: str | None
    response_event_id: str | None
    attempt_id: str | None
    certainty: Certainty | None
    phase: str | None


def end_turn(connection: sqlite3.Connection, end: TurnEnd, limits: Limits, now: str) -> Ended:
    """Write the turn's end; when it has ended before, return that end and write nothing.

    Raises: TransitionError when a turn would complete whose delivery is not certain.
    """
    turn = _load(connection, end.turn_id)
    if turn.terminal_event_id is not None:
        return Ended(
            turn.turn_id, turn.status, False, turn.terminal_event_id, turn.response_event_id
        )
    if end.status is TurnStatus.COMPLETED and not may_complete(turn.certainty or Certainty.UNKNOWN):
        raise TransitionError(f"{turn.turn_id} cannot complete: its delivery is {turn.certainty}.")
    reasoning_id = _record_reasoning(connection, turn, end, now)
    failpoint("terminal.after_reasoning")
    tool_ids = [_record_tool(connection, turn, tool) for tool in end.tools]
    failpoint("terminal.after_tools")
    answer = _record_response(connection, turn, end, limits, now)
    response_id = None if answer is None else answer.event_id
    if answer is not None:
        note_turn(
            connection,
            turn.turn_id,
            turn.room_id,
            turn.actor_id,
            turn.source_event_id,
            answer,
            now,
        )
    failpoint("terminal.after_response")
    body = _terminal_body(turn, end, limits, reasoning_id, tool_ids, response_id)
    terminal_id = _record_terminal(connection, turn, end, body, now)
    if "partialText" in body and len(end.answer) > limits.answer_characters:
        _keep_whole(connection, terminal_id, "partialText", end.answer)
    failpoint("terminal.after_event")
    _close_rows(connection, turn, end, limits, response_id, terminal_id, now)
    note_end(connection, turn.turn_id, end.steps, end.status.value, now)
    failpoint("terminal.before_commit")
    return Ended(turn.turn_id, end.status, True, terminal_id, response_id)


def _load(connection: sqlite3.Connection, turn_id: str) -> _Turn:
    row = connection.execute(
        "SELECT t.turn_id, t.room_id, t.target_actor_id, t.source_event_id,"
        " t.root_correlation_id, t.status, t.terminal_event_id, t.response_event_id,"
        " a.attempt_id, a.delivery_certainty, a.dispatch_phase FROM turns t"
        " LEFT JOIN turn_attempts a ON a.turn_id = t.turn_id AND a.terminal_at IS NULL"
        " WHERE t.turn_id = ?",
        (turn_id,),
    ).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    return _Turn(
        turn_id=row[0],
        room_id=row[1],
        actor_id=row[2],
        source_event_id=row[3],
        correlation_id=row[4],
        status=TurnStatus(row[5]),
        terminal_event_id=row[6],
        response_event_id=row[7],
        attempt_id=row[8],
        certainty=None if row[9] is None else _certainty(row[9]),
        phase=row[10],
    )


def _certainty(stored: str) -> Certainty:
    """`terminal` is a value that the earlier program's schema allowed but never meant more."""
    return Certainty.UNKNOWN if stored == "terminal" else Certainty(stored)


def _agent_event(
    turn: _Turn, kind: str, body: dict[str, Any], at: str, key: str | None = None
) -> NewEvent:
    return NewEvent(
        event_id=new_id("evt"),
        room_id=turn.room_id,
        type=kind,
        actor_id=turn.actor_id,
        correlation_id=turn.correlation_id,
        causation_id=turn.turn_id,
        occurred_at=at,
        body=body,
        idempotency_key=key,
        provenance={"sourceKind": "adapter", "authorActorId": turn.actor_id},
    )


def _record_reasoning(
    connection: sqlite3.Connection, turn: _Turn, end: TurnEnd, now: str
) -> str | None:
    if not end.reasoning.strip():
        return None
    body: dict[str, Any] = {
        "turnId": turn.turn_id,
        "content": end.reasoning,
        "terminalStatus": end.status.value,
        "cut": end.reasoning_cut,
    }
    if end.reasoning_ms is not None:
        body["durationMs"] = end.reasoning_ms
    event = _agent_event(turn, EventType.TURN_REASONING_RECORDED, body, now)
    insert_event(connection, event)
    return event.event_id


def _record_tool(connection: sqlite3.Connection, turn: _Turn, tool: ToolEnd) -> str:
    body = {
        "turnId": turn.turn_id,
        "toolCallId": tool.call_id,
        "nativeType": "tool.completed" if tool.has_ended else "tool.started",
        "details": tool.details,
    }
    event = _agent_event(turn, EventType.TOOL_PROGRESS_RECORDED, body, tool.at)
    insert_event(connection, event)
    return event.event_id


def _record_response(
    connection: sqlite3.Connection, turn: _Turn, end: TurnEnd, limits: Limits, now: str
) -> Answer | None:
    if end.status is not TurnStatus.COMPLETED:
        return None
    content = clip_text(end.answer, limits.answer_characters)
    cut = len(end.answer) > limits.answer_characters
    body: dict[str, Any] = {
        "turnId": turn.turn_id,
        "content": content,
        "cut": cut,
    }
    if end.stop_reason not in (None, "end_turn"):
        body["stopReason"] = end.stop_reason
    event = _agent_event(
        turn, EventType.MESSAGE_CREATED, body, now, key=f"turn:{turn.turn_id}:response"
    )
    seq = insert_event(connection, replace(event, reply_to_event_id=turn.source_event_id))
    if cut:
        _keep_whole(connection, event.event_id, "content", end.answer)
    return Answer(event.event_id, seq, len(content))


def _keep_whole(connection: sqlite3.Connection, event_id: str, name: str, text: str) -> None:
    parts = range(0, len(text), TEXT_PART_CHARS)
    connection.executemany(
        "INSERT INTO event_texts(event_id, field, part_no, text) VALUES (?, ?, ?, ?)",
        (
            (event_id, name, number, text[start : start + TEXT_PART_CHARS])
            for number, start in enumerate(parts)  # one by one: together they are the text again
        ),
    )


def _terminal_body(
    turn: _Turn,
    end: TurnEnd,
    limits: Limits,
    reasoning_id: str | None,
    tool_ids: list[str],
    response_id: str | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {"turnId": turn.turn_id, "status": end.status.value}
    optional = {
        "reasoningEventId": reasoning_id,
        "toolProgressEventIds": tool_ids or None,
        "plan": list(end.plan) or None,
        "responseEventId": response_id,
        "errorCode": end.error_code,
        "errorMessage": end.error_message,
        "usage": end.usage or None,
        "durationMs": end.duration_ms,
        **end.extra,
    }
    if end.status is not TurnStatus.COMPLETED:
        certainty = turn.certainty or Certainty.NOT_DELIVERED
        optional["deliveryCertainty"] = certainty.value
        optional["previousStatus"] = turn.status.value
        optional["dispatchPhase"] = turn.phase
        optional["partialText"] = clip_text(end.answer, limits.answer_characters) or None
    return body | {key: value for key, value in optional.items() if value is not None}


def _record_terminal(
    connection: sqlite3.Connection, turn: _Turn, end: TurnEnd, body: dict[str, Any], now: str
) -> str:
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=turn.room_id,
        type=_TYPES[end.status],
        actor_id=turn.actor_id if turn.attempt_id is not None else SYSTEM,
        correlation_id=turn.correlation_id,
        causation_id=turn.turn_id,
        occurred_at=now,
        body=body,
        idempotency_key=f"turn:{turn.turn_id}:terminal",
    )
    insert_event(connection, event)
    return event.event_id


def _close_rows(
    connection: sqlite3.Connection,
    turn: _Turn,
    end: TurnEnd,
    limits: Limits,
    response_id: str | None,
    terminal_id: str,
    now: str,
) -> None:
    partial = None
    if end.status is not TurnStatus.COMPLETED and end.answer:
        partial = clip_text(end.answer, limits.answer_characters)
    updated = connection.execute(
        "UPDATE turns SET status = ?, error_code = ?, error_message = ?, response_event_id = ?,"
        " terminal_event_id = ?, terminal_at = ?, partial_text = ?, usage_json = ?"
        " WHERE turn_id = ? AND status = ?",
        (
            end.status.value,
            end.error_code,
            end.error_message,
            response_id,
            terminal_id,
            now,
            partial,
            orjson.dumps(end.usage).decode() if end.usage else None,
            turn.turn_id,
            turn.status.value,
        ),
    )
    if updated.rowcount != 1:
        raise TransitionError(f"{turn.turn_id} changed while it ended.")
    if end.usage:
        add_usage(connection, turn.turn_id)
    connection.execute("DELETE FROM turn_partials WHERE turn_id = ?", (turn.turn_id,))
    if turn.attempt_id is None:
        return
    connection.execute(
        "UPDATE turn_attempts SET dispatch_phase = 'terminal', terminal_at = ?,"
        " reconciliation = ? WHERE attempt_id = ?",
        (now, end.reconciliation, turn.attempt_id),
    )
    if turn.certainty is Certainty.DELIVERED:
        advance_cursor(connection, turn.attempt_id, turn.actor_id, turn.room_id, now)
