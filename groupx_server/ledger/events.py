"""Events: appending, paging, reading one, and their JSON on the wire.

Invariant: `insert_event` is the only place that writes to `events`; it keeps the room's counters
and the message index in the same transaction. An event's body is stored as JSON text once and
spliced as it is into every reply, frame and export.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

from groupx_server.ledger.messages import index_message
from groupx_server.ledger.stored import splice_body, splice_list, splice_provenance
from groupx_shared.errors import ErrorCode, LedgerError, RefusedError
from groupx_shared.text import safe_json, safe_line
from groupx_shared.version import EVENT_SCHEMA
from groupx_shared.wire.events import TRANSIENT_TYPES, EventType

MESSAGE_TYPES: Final = frozenset({EventType.MESSAGE_CREATED, EventType.OPERATOR_DISPATCH})
WATCH_BRIEF: Final = "supervision.watch"

COLUMNS: Final = (
    "seq, event_id, schema_version, room_id, event_type, actor_id, actor_kind, "
    "actor_display_name, instance_id, targets_json, reply_to_event_id, causation_id, "
    "correlation_id, occurred_at, body_json, provenance_json, forwarded_event_id"
)
EventRow = tuple[Any, ...]
"""A row of `COLUMNS`, in that order."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A durable event to append; actor kind and name are snapshotted from `actors`."""

    event_id: str
    room_id: str
    type: str
    actor_id: str
    correlation_id: str
    occurred_at: str
    body: dict[str, Any]
    to: Sequence[str] = ()
    reply_to_event_id: str | None = None
    causation_id: str | None = None
    idempotency_key: str | None = None
    instance_id: str | None = None
    provenance: dict[str, Any] | None = None
    forwarded_event_id: str | None = None


def insert_event(connection: sqlite3.Connection, event: NewEvent) -> int:
    """Append `event` and return its seq. Raises: LedgerError for a transient type or an unknown
    actor; sqlite3.IntegrityError when its idempotency key was used."""
    if event.type in TRANSIENT_TYPES:
        raise LedgerError(f"{event.type} is transient and is never written to the ledger")
    body = orjson.dumps(event.body).decode()
    provenance = None if event.provenance is None else orjson.dumps(event.provenance).decode()
    actor = connection.execute(
        "SELECT kind, display_name FROM actors WHERE actor_id = ?", (event.actor_id,)
    ).fetchone()
    if actor is None:
        raise LedgerError(f"there is no actor {event.actor_id} in the ledger")
    # VALUES and not SELECT: an INSERT of several rows makes SQLite look through every table that
    # refers to events, one of a single row does not.
    cursor = connection.execute(
        "INSERT INTO events(event_id, schema_version, room_id, event_type, actor_id, actor_kind,"
        " actor_display_name, instance_id, targets_json, reply_to_event_id, causation_id,"
        " correlation_id, idempotency_key, occurred_at, body_json, provenance_json,"
        " forwarded_event_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.event_id,
            EVENT_SCHEMA,
            event.room_id,
            event.type,
            event.actor_id,
            *actor,
            event.instance_id,
            orjson.dumps(list(event.to)).decode(),
            event.reply_to_event_id,
            event.causation_id,
            event.correlation_id,
            event.idempotency_key,
            event.occurred_at,
            body,
            provenance,
            event.forwarded_event_id,
        ),
    )
    seq = cursor.lastrowid
    if seq is None:
        raise LedgerError("SQLite gave the new event no seq")
    _count(connection, event, seq)
    return seq


def _count(connection: sqlite3.Connection, event: NewEvent, seq: int) -> None:
    chars = None
    if event.type in MESSAGE_TYPES and event.body.get("kind") != WATCH_BRIEF:
        chars = len(str(event.body.get("content", "")))
    connection.execute(
        "UPDATE rooms SET last_seq = ?, event_count = event_count + 1,"
        " message_count = message_count + ?, message_chars = message_chars + ?"
        " WHERE room_id = ?",
        (seq, 0 if chars is None else 1, chars or 0, event.room_id),
    )
    if chars is not None:
        index_message(connection, event.room_id, seq, event.event_id, event.actor_id, chars)


def encode_row(row: EventRow) -> bytes:
    """Return the event of one `COLUMNS` row as wire JSON; the stored body is spliced as it is."""
    # Names and no numbers: a page is dozens of rows, and this is most of what a page costs.
    (
        seq, event_id, schema, room_id, kind, actor_id, actor_kind, name, instance_id, to,
        reply_to, causation, correlation, at, body, provenance, forwarded,
    ) = row  # fmt: skip
    actor: dict[str, Any] = {"actorId": actor_id, "kind": actor_kind, "displayName": name}
    if instance_id is not None:
        actor["instanceId"] = instance_id
    event: dict[str, Any] = {
        "schema": schema,
        "eventId": event_id,
        "seq": seq,
        "roomId": room_id,
        "type": kind,
        "actor": actor,
        "to": splice_list(to),
        "correlationId": correlation,
        "rootCorrelationId": correlation,
        "occurredAt": at,
        "durability": "durable",
        "body": splice_body(body),
    }
    if reply_to is not None:
        event["replyToEventId"] = reply_to
    if causation is not None:
        event["causationId"] = causation
    if provenance is not None:
        event["provenance"] = splice_provenance(provenance)
    if forwarded is not None:
        event["forwardedEventId"] = forwarded
    return safe_json(orjson.dumps(event))


@dataclass(frozen=True, slots=True)
class EventRows:
    """A page of one room's durable events."""

    events: list[bytes]
    """Envelopes as JSON, oldest first."""
    has_more_before: bool
    has_more_after: bool


Direction = Literal["before", "after"]


def page(
    connection: sqlite3.Connection,
    room_id: str,
    *,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
    limit: int = 100,
    types: Sequence[str] = (),
) -> EventRows:
    """Return a page of a room's events by seq (exclusive bounds); without a bound the newest."""
    if around is not None:
        half = max(1, limit // 2)
        older, more_before = _rows(connection, room_id, "before", around, half, types)
        newer, more_after = _rows(connection, room_id, "after", around - 1, limit - half, types)
        return EventRows([encode_row(row) for row in older + newer], more_before, more_after)
    if after is not None:
        rows, more = _rows(connection, room_id, "after", after, limit, types)
        has_before = _has_any(connection, room_id, "before", after + 1)
        return EventRows([encode_row(row) for row in rows], has_before, more)
    rows, more = _rows(connection, room_id, "before", before, limit, types)
    has_after = before is not None and _has_any(connection, room_id, "after", before - 1)
    return EventRows([encode_row(row) for row in rows], more, has_after)


def _rows(
    connection: sqlite3.Connection,
    room_id: str,
    direction: Direction,
    bound: int | None,
    limit: int,
    types: Sequence[str],
) -> tuple[list[EventRow], bool]:
    """Keyset page in one direction: rows oldest first, and whether more lie beyond."""
    clauses, parameters = ["room_id = ?"], [room_id]
    values: list[Any] = list(parameters)
    if bound is not None:
        clauses.append("seq < ?" if direction == "before" else "seq > ?")
        values.append(bound)
    if types:
        clauses.append(f"event_type IN ({', '.join('?' * len(types))})")
        values.extend(types)
    order = "DESC" if direction == "before" else "ASC"
    sql = f"SELECT {COLUMNS} FROM events WHERE {' AND '.join(clauses)} ORDER BY seq {order} LIMIT ?"
    rows = connection.execute(sql, (*values, limit + 1)).fetchall()
    more = len(rows) > limit
    rows = rows[:limit]
    if direction == "before":
        rows.reverse()
    return rows, more


def _has_any(
    connection: sqlite3.Connection, room_id: str, direction: Direction, bound: int
) -> bool:
    operator = "<" if direction == "before" else ">"
    row = connection.execute(
        f"SELECT 1 FROM events WHERE room_id = ? AND seq {operator} ? LIMIT 1", (room_id, bound)
    ).fetchone()
    return row is not None


class TailRow(NamedTuple):
    """One durable event for the live tail or an export."""

    seq: int
    room_id: str
    data: bytes
    """Its envelope as JSON on one line (no CR, no LF)."""


def rows_after(
    connection: sqlite3.Connection, after_seq: int, limit: int, room_id: str | None = None
) -> list[TailRow]:
    """Return up to `limit` events with a higher seq, of one room or of all, oldest first."""
    where = "seq > ?" if room_id is None else "room_id = ? AND seq > ?"
    bounds = (after_seq,) if room_id is None else (room_id, after_seq)
    cursor = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE {where} ORDER BY seq LIMIT ?", (*bounds, limit)
    )
    return [TailRow(row[0], row[3], encode_row(row)) for row in cursor]


def read_event(connection: sqlite3.Connection, event_id: str) -> bytes:
    """Return one event as wire JSON. Raises: RefusedError (UNKNOWN_EVENT)."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    if row is None:
        raise unknown_event(event_id)
    return encode_row(row)


def unknown_event(event_id: str) -> RefusedError:
    """The refusal for an event id that the ledger does not hold."""
    return RefusedError(
        f"There is no event “{safe_line(event_id, 80)}”. Event ids stand in “groupx history "
        "--json” and in the message's details.",
        code=ErrorCode.UNKNOWN_EVENT,
    )
