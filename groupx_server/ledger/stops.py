"""Agents that were stopped by a limit, where people see it, and what a person allows them.

A refused call leaves one `routing.loop_stopped` of its kind in the room, with what the agent
wanted to say; more refusals of that kind leave nothing until a person lets the root go on. The
key `stop:<root>:<kind>:<continues>` is unique in the room.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import SYSTEM, USER_WEB, new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.bodies import HeldCall, LoopContinuedBody, LoopKind, LoopStoppedBody
from groupx_shared.wire.events import EventType

KINDS: Final[dict[str, LoopKind]] = {
    "hopCount": "hop_count",
    "rootTurns": "root_turns",
    "actorCallsPerRoot": "actor_calls_per_root",
    "queuePerAgent": "queue_per_agent",
    "pingPongCalls": "ping_pong",
    "tokensPerRoot": "tokens_per_root",
}
"""`details.limitKind` of a refusal -> `kind` of the event."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where and by what agents were stopped."""

    room_id: str
    correlation_id: str
    caller_actor_id: str
    caller_turn_id: str
    error: RefusedError
    targets: Sequence[str] = ()
    held: HeldCall | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The stop's event; `is_new` is false when it was there already."""

    event_id: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Pending:
    """A stop that nobody has answered yet."""

    event_id: str
    room_id: str
    body: LoopStoppedBody


def is_limit(error: RefusedError) -> bool:
    """True for a refusal that people should see."""
    return error.details.get("limitKind") in KINDS


def granted_to(connection: sqlite3.Connection, correlation_id: str) -> int:
    """How often people let this root go on."""
    row = connection.execute(
        "SELECT granted FROM root_allowances WHERE root_correlation_id = ?", (correlation_id,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def record_stop(connection: sqlite3.Connection, stop: Stop, now: str) -> Stopped:
    """Write the stop's event, unless one of its kind waits for a person already."""
    kind = KINDS[stop.error.details["limitKind"]]
    granted = granted_to(connection, stop.correlation_id)
    key = _key(stop.correlation_id, kind, granted)
    known = connection.execute(
        "SELECT event_id FROM events WHERE room_id = ? AND idempotency_key = ?",
        (stop.room_id, key),
    ).fetchone()
    if known is not None:
        return Stopped(known[0], is_new=False)
    body = LoopStoppedBody(
        kind=kind,
        limit=stop.error.details["limit"],
        message=stop.error.message,
        caller_actor_id=stop.caller_actor_id,
        caller_turn_id=stop.caller_turn_id,
        targets=tuple(stop.targets),
        continues=granted,
        held=stop.held,
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=stop.room_id,
        type=EventType.ROUTING_LOOP_STOPPED,
        actor_id=SYSTEM,
        correlation_id=stop.correlation_id,
        causation_id=stop.caller_turn_id,
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True, exclude_none=True),
        idempotency_key=key,
    )
    insert_event(connection, event)
    return Stopped(event.event_id, is_new=True)


def stop_kinds(connection: sqlite3.Connection, correlation_id: str, room_id: str) -> list[str]:
    """Kinds of limits that stopped a root and that nobody has answered yet."""
    granted = granted_to(connection, correlation_id)
    return [
        kind
        for kind in KINDS.values()
        if connection.execute(
            "SELECT 1 FROM events WHERE room_id = ? AND idempotency_key = ?",
            (room_id, _key(correlation_id, kind, granted)),
        ).fetchone()
    ]


def unknown_root(correlation_id: str) -> RefusedError:
    """The refusal for a correlation id that woke no agent."""
    return RefusedError(
        f"There is no message with the correlation id “{safe_line(correlation_id, 80)}” that "
        "woke an agent. Each event carries its correlationId; “groupx roots list” shows them.",
        code=ErrorCode.UNKNOWN_EVENT,
    )


def pending_stops(connection: sqlite3.Connection, correlation_id: str) -> list[Pending]:
    """The stops of a root that wait for a person.

    Raises: RefusedError (UNKNOWN_EVENT: no such root; STORE_CONFLICT: nothing waits).
    """
    room_id = _room_of(connection, correlation_id)
    granted = granted_to(connection, correlation_id)
    found = []
    for kind in KINDS.values():
        row = connection.execute(
            "SELECT event_id, body_json FROM events WHERE room_id = ? AND idempotency_key = ?",
            (room_id, _key(correlation_id, kind, granted)),
        ).fetchone()
        if row is not None:
            body = LoopStoppedBody.model_validate(orjson.loads(row[1]))
            found.append(Pending(row[0], room_id, body))
    if not found:
        raise RefusedError(
            "Nothing of this message was stopped, so nothing has to be let on.",
            code=ErrorCode.STORE_CONFLICT,
        )
    return found


def grant(connection: sqlite3.Connection, correlation_id: str, room_id: str, now: str) -> int:
    """Let the root go on once more; return how often that was done."""
    connection.execute(
        "INSERT INTO root_allowances(root_correlation_id, room_id, granted, updated_at)"
        " VALUES (?, ?, 1, ?) ON CONFLICT(root_correlation_id) DO UPDATE SET"
        " granted = granted + 1, updated_at = excluded.updated_at",
        (correlation_id, room_id, now),
    )
    return granted_to(connection, correlation_id)


def record_continued(
    connection: sqlite3.Connection,
    correlation_id: str,
    room_id: str,
    body: LoopContinuedBody,
    now: str,
) -> None:
    """Write that a person let the root go on."""
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=EventType.ROUTING_LOOP_CONTINUED,
        actor_id=USER_WEB,
        correlation_id=correlation_id,
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True, exclude_none=True),
    )
    insert_event(connection, event)


def _room_of(connection: sqlite3.Connection, correlation_id: str) -> str:
    row = connection.execute(
        "SELECT room_id FROM turns WHERE root_correlation_id = ? LIMIT 1", (correlation_id,)
    ).fetchone()
    if row is None:
        raise unknown_root(correlation_id)
    return str(row[0])


def _key(correlation_id: str, kind: str, granted: int) -> str:
    return f"stop:{correlation_id}:{kind}:{granted}"
