"""Where a message stands and whose it is, for passing it on or giving it to agents again; and what
the room assistant wrote in a transaction."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from groupx_server.ledger.events import unknown_event
from groupx_shared.ids import USER_ASSISTANT


class Original(NamedTuple):
    """An event without its text."""

    room_id: str
    type: str
    actor_id: str
    actor_name: str
    occurred_at: str


def read_original(connection: sqlite3.Connection, event_id: str) -> Original:
    """Raises: RefusedError (UNKNOWN_EVENT)."""
    row = connection.execute(
        "SELECT room_id, event_type, actor_id, actor_display_name, occurred_at FROM events"
        " WHERE event_id = ?",
        (event_id,),
    ).fetchone()
    if row is None:
        raise unknown_event(event_id)
    return Original(*row)


def root_of_turns(connection: sqlite3.Connection, event_id: str) -> str:
    """The root of the turns that a message woke. Raises: RefusedError (UNKNOWN_EVENT)."""
    row = connection.execute(
        "SELECT root_correlation_id FROM turns WHERE source_event_id = ? LIMIT 1", (event_id,)
    ).fetchone()
    if row is None:
        raise unknown_event(event_id)
    return str(row[0])


def newest_seq(connection: sqlite3.Connection) -> int:
    """Seq of the newest event, 0 when there is none."""
    row = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    return int(row[0])


def assistants_event(connection: sqlite3.Connection, after_seq: int) -> tuple[str, str] | None:
    """Id and room of the first event after this seq that the assistant wrote."""
    row = connection.execute(
        "SELECT event_id, room_id FROM events WHERE seq > ? AND actor_id = ? ORDER BY seq LIMIT 1",
        (after_seq, USER_ASSISTANT),
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))
