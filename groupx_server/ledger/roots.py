"""Roots: the turns that one message led to, listed, read and cancelled together.

A root is found by its turns; nothing is kept besides. Lists go through the index of a room's (or
all) turns, a single root through the index of its correlation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, Literal

from groupx_server.domain.limits import Limits
from groupx_server.ledger.cancel import Cancelled, cancel_one
from groupx_server.ledger.stops import stop_kinds, unknown_root
from groupx_server.ledger.stored import read_body
from groupx_server.ledger.turns import LAST_SEQ, OPEN_OF_ROOM, OPEN_SQL, turns_of_root
from groupx_server.ledger.usage import read_usage
from groupx_shared.text import safe_line
from groupx_shared.wire.roots import RootInfo, RootList, RootReply, RootStatus

RootSelection = Literal["open", "all"]
EXCERPT_CHARS: Final = 160
MAX_TURNS: Final = 500
"""Of one root; the limit of turns of a root is far lower by default."""


def list_roots(
    connection: sqlite3.Connection,
    room_id: str | None,
    selection: RootSelection,
    before: int | None,
    limit: int,
) -> RootList:
    """Roots, newest first by their newest turn; `before` is the last page's `next_before`."""
    found: dict[str, int] = {}
    edge = LAST_SEQ if before is None else before
    clauses = ["enqueue_seq < ?"]
    values: list[Any] = [edge]
    if room_id is not None:
        clauses.append("room_id = ?")
        values.append(room_id)
    index = ""
    if selection == "open":
        index = OPEN_OF_ROOM
        clauses.append(f"status IN {OPEN_SQL}")
    cursor = connection.execute(
        f"SELECT root_correlation_id, enqueue_seq FROM turns {index}"
        f" WHERE {' AND '.join(clauses)} ORDER BY enqueue_seq DESC",
        values,
    )
    for root, seq in cursor:
        if root in found or _is_of_newer_page(connection, root, edge):
            continue
        if len(found) == limit:
            return _page(connection, found, min(found.values()))
        found[root] = seq
    return _page(connection, found, None)


def _is_of_newer_page(connection: sqlite3.Connection, root: str, edge: int) -> bool:
    """The root has a newer turn, so the page before this one told of it."""
    if edge == LAST_SEQ:
        return False
    row = connection.execute(
        "SELECT 1 FROM turns WHERE root_correlation_id = ? AND enqueue_seq >= ? LIMIT 1",
        (root, edge),
    ).fetchone()
    return row is not None


def _page(
    connection: sqlite3.Connection, found: dict[str, int], next_before: int | None
) -> RootList:
    roots = tuple(read_root(connection, root) for root in found)
    return RootList(roots=roots, next_before=next_before)


def read_root(connection: sqlite3.Connection, correlation_id: str) -> RootInfo:
    """One root. Raises: RefusedError (UNKNOWN_EVENT)."""
    rows = connection.execute(
        "SELECT target_actor_id, status, source_event_id, enqueue_seq FROM turns"
        " WHERE root_correlation_id = ? LIMIT ?",
        (correlation_id, MAX_TURNS),
    ).fetchall()
    if not rows:
        raise unknown_root(correlation_id)
    rows.sort(key=lambda row: row[3])
    message = connection.execute(
        "SELECT event_id, room_id, actor_id, actor_display_name, body_json, occurred_at"
        " FROM events WHERE event_id = ?",
        (rows[0][2],),
    ).fetchone()
    open_turns = sum(row[1] in ("queued", "dispatching", "running", "cancelling") for row in rows)
    stops = stop_kinds(connection, correlation_id, message[1])
    return RootInfo(
        correlation_id=correlation_id,
        room_id=message[1],
        message_event_id=message[0],
        actor_id=message[2],
        actor_name=message[3],
        excerpt=safe_line(str(read_body(message[4]).get("content", "")), EXCERPT_CHARS),
        occurred_at=message[5],
        status=_status(open_turns, stops),
        agents=tuple(dict.fromkeys(row[0] for row in rows)),
        turns=len(rows),
        open_turns=open_turns,
        failed_turns=sum(row[1] in ("failed", "cancelled", "interrupted") for row in rows),
        stops=tuple(stops),
    )


def _status(open_turns: int, stops: Sequence[str]) -> RootStatus:
    if open_turns:
        return "open"
    return "stopped" if stops else "ended"


def show_root(connection: sqlite3.Connection, correlation_id: str) -> RootReply:
    """One root with its turns and what it cost. Raises: RefusedError (UNKNOWN_EVENT)."""
    return RootReply(
        root=read_root(connection, correlation_id),
        turns=tuple(turns_of_root(connection, correlation_id, MAX_TURNS)),
        usage=read_usage(connection, None, correlation_id, None).totals,
    )


def cancel_root(
    connection: sqlite3.Connection, correlation_id: str, limits: Limits, now: str
) -> list[Cancelled]:
    """Cancel every open turn of a root. Raises: RefusedError (UNKNOWN_EVENT)."""
    read_root(connection, correlation_id)
    rows = connection.execute(
        f"SELECT turn_id FROM turns WHERE root_correlation_id = ? AND status IN {OPEN_SQL} LIMIT ?",
        (correlation_id, MAX_TURNS),
    ).fetchall()
    return [cancel_one(connection, turn_id, limits, now) for (turn_id,) in rows]
