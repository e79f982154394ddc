"""The message index: what counts as conversation, with running totals.

One row for each `message.created`/`operator.dispatch` (not watch briefs) in `room_messages`.
Because each row carries the room's totals up to itself, "how much was said since X" is one
subtraction of two rows, however long the room is; and the delta for an agent is read without
passing tool and reasoning records.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from groupx_server.ledger.stored import read_body


def index_message(
    connection: sqlite3.Connection,
    room_id: str,
    seq: int,
    event_id: str,
    actor_id: str,
    chars: int,
) -> None:
    """Add the newest message of a room to the index."""
    connection.execute(
        "INSERT INTO room_messages(room_id, seq, event_id, actor_id, chars, total_count,"
        " total_chars) SELECT ?1, ?2, ?3, ?4, ?5,"
        " 1 + COALESCE(MAX(total_count), 0), ?5 + COALESCE(MAX(total_chars), 0)"
        " FROM (SELECT total_count, total_chars FROM room_messages WHERE room_id = ?1"
        " ORDER BY seq DESC LIMIT 1)",
        (room_id, seq, event_id, actor_id, chars),
    )


@dataclass(frozen=True, slots=True)
class Said:
    """How much was said after some seq."""

    messages: int
    chars: int


def said_after(connection: sqlite3.Connection, room_id: str, after_seq: int) -> Said:
    """Count messages and characters of a room after `after_seq`, in constant time."""
    newest = _totals_at(connection, room_id, None)
    floor = _totals_at(connection, room_id, after_seq)
    return Said(newest[0] - floor[0], newest[1] - floor[1])


def _totals_at(connection: sqlite3.Connection, room_id: str, seq: int | None) -> tuple[int, int]:
    bound = "" if seq is None else " AND seq <= ?"
    row = connection.execute(
        f"SELECT total_count, total_chars FROM room_messages WHERE room_id = ?{bound}"
        " ORDER BY seq DESC LIMIT 1",
        (room_id,) if seq is None else (room_id, seq),
    ).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """One message as the context packet needs it."""

    seq: int
    event_id: str
    actor_id: str
    actor_name: str
    occurred_at: str
    content: str
    reply_to_event_id: str | None
    correlation_id: str


SPOKEN = (
    "SELECT e.seq, e.event_id, e.actor_id, e.actor_display_name, e.occurred_at, e.body_json,"
    " e.reply_to_event_id, e.correlation_id"
)


def newest_between(
    connection: sqlite3.Connection, room_id: str, after_seq: int, through_seq: int, limit: int
) -> list[SpokenMessage]:
    """Messages with after_seq < seq <= through_seq, newest first, at most `limit`."""
    cursor = connection.execute(
        f"{SPOKEN} FROM room_messages m JOIN events e ON e.seq = m.seq"
        " WHERE m.room_id = ? AND m.seq > ? AND m.seq <= ? ORDER BY m.seq DESC LIMIT ?",
        (room_id, after_seq, through_seq, limit),
    )
    return [spoken(row) for row in cursor]


def read_message(connection: sqlite3.Connection, event_id: str) -> SpokenMessage | None:
    """One message by its event id; None when there is none (a reply may point to another event)."""
    row = connection.execute(f"{SPOKEN} FROM events e WHERE e.event_id = ?", (event_id,)).fetchone()
    return None if row is None else spoken(row)


def spoken(row: tuple[Any, ...]) -> SpokenMessage:
    """Build a `SpokenMessage` from a row of the columns above."""
    content = str(read_body(row[5]).get("content", ""))
    return SpokenMessage(row[0], row[1], row[2], row[3], row[4], content, row[6], row[7])
