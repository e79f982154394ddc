"""Reading what belongs together: the events and turns of one root, by its correlation id.

Both go by an index on the correlation, so the cost is that of the root and not of the room.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from groupx_server.ledger.turns import LAST_SEQ
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line

MAX_TURNS: Final = 200
"""Turns told of one root, newest last; the limit of turns of a root is far lower by default."""


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """A durable event as another agent may read it."""

    seq: int
    event_id: str
    type: str
    actor_id: str
    actor_kind: str
    actor_name: str
    to: Sequence[str]
    reply_to_event_id: str | None
    causation_id: str | None
    occurred_at: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn of the root, without its texts."""

    turn_id: str
    actor_id: str
    status: str
    parent_turn_id: str | None
    response_event_id: str | None
    error_code: str | None


_COLUMNS: Final = (
    "seq, event_id, event_type, actor_id, actor_kind, actor_display_name, targets_json,"
    " reply_to_event_id, causation_id, occurred_at, body_json"
)


def require_correlation(connection: sqlite3.Connection, correlation_id: str, room_id: str) -> None:
    """Raises: RefusedError (UNKNOWN_EVENT) for a root that is not in this room."""
    row = connection.execute(
        "SELECT room_id FROM events WHERE correlation_id = ? ORDER BY seq LIMIT 1",
        (correlation_id,),
    ).fetchone()
    if row is None or row[0] != room_id:
        raise RefusedError(
            f"There is no correlation “{safe_line(correlation_id, 80)}” in this room. Leave it out "
            "to read what you work on.",
            code=ErrorCode.UNKNOWN_EVENT,
        )


def events_of(
    connection: sqlite3.Connection,
    correlation_id: str,
    after_seq: int,
    limit: int,
    types: Sequence[str],
) -> list[ToldEvent]:
    """Events of these types after `after_seq`, oldest first, at most `limit`."""
    places = ", ".join("?" * len(types))
    cursor = connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE correlation_id = ? AND seq > ?"
        f" AND event_type IN ({places}) ORDER BY seq LIMIT ?",
        (correlation_id, after_seq, *types, limit),
    )
    return [_told(row) for row in cursor]


def newest_told(
    connection: sqlite3.Connection,
    room_id: str,
    correlation_id: str | None,
    before_seq: int | None,
    limit: int,
    types: Sequence[str],
) -> list[ToldEvent]:
    """The newest events of these types (before a seq) of a room or of one of its roots, newest
    first."""
    clauses, values = ["room_id = ?"], [room_id]
    if correlation_id is not None:
        clauses, values = ["correlation_id = ?"], [correlation_id]
    bounds: list[Any] = [*values, LAST_SEQ if before_seq is None else before_seq]
    places = ", ".join("?" * len(types))
    cursor = connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE {' AND '.join(clauses)} AND seq < ?"
        f" AND event_type IN ({places}) ORDER BY seq DESC LIMIT ?",
        (*bounds, *types, limit),
    )
    return [_told(row) for row in cursor]


def turns_of(connection: sqlite3.Connection, correlation_id: str) -> list[ToldTurn]:
    """The turns of a root, in the order of their queues."""
    return _turns(connection, "root_correlation_id = ?", correlation_id)


def children_of(connection: sqlite3.Connection, turn_id: str) -> list[ToldTurn]:
    """The turns that a turn caused, in the order of their queues."""
    return _turns(connection, "parent_turn_id = ?", turn_id)


def _turns(connection: sqlite3.Connection, clause: str, value: str) -> list[ToldTurn]:
    rows = connection.execute(
        "SELECT turn_id, target_actor_id, status, parent_turn_id, response_event_id, error_code,"
        f" enqueue_seq FROM turns WHERE {clause} LIMIT ?",
        (value, MAX_TURNS),
    ).fetchall()
    rows.sort(key=lambda row: row[6])
    return [ToldTurn(*row[:6]) for row in rows]


def read_told(connection: sqlite3.Connection, event_id: str, room_id: str) -> ToldEvent:
    """One event of the room. Raises: RefusedError (UNKNOWN_EVENT)."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE event_id = ? AND room_id = ?", (event_id, room_id)
    ).fetchone()
    if row is None:
        raise RefusedError(
            f"There is no event “{safe_line(event_id, 80)}” in this room.",
            code=ErrorCode.UNKNOWN_EVENT,
        )
    return _told(row)


def _told(row: tuple[Any, ...]) -> ToldEvent:
    try:
        body = orjson.loads(row[10])
    except orjson.JSONDecodeError:  # rows of the earlier program may hold anything
        body = {}
    return ToldEvent(
        row[0],
        row[1],
        row[2],
        row[3],
        row[4],
        row[5],
        tuple(orjson.loads(row[6])),
        row[7],
        row[8],
        row[9],
        body if isinstance(body, dict) else {},
    )
