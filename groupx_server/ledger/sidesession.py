"""Which native session the assistant's conversation is in, for taking it up after a restart."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

import orjson

KEY: Final = "assistant_session"


class SideSession(NamedTuple):
    """A native session, and under what it may be taken up again. Never leaves the server."""

    driver: str
    protocol: str
    cwd: str
    native_session_id: str


def read_side_session(connection: sqlite3.Connection) -> SideSession | None:
    """The session that was told something last."""
    row = connection.execute("SELECT value FROM ledger_meta WHERE key = ?", (KEY,)).fetchone()
    return None if row is None else SideSession(*orjson.loads(row[0]))


def write_side_session(connection: sqlite3.Connection, session: SideSession | None) -> None:
    """Keep it; None: begin anew."""
    connection.execute("DELETE FROM ledger_meta WHERE key = ?", (KEY,))
    if session is not None:
        value = orjson.dumps(list(session)).decode()
        connection.execute("INSERT INTO ledger_meta(key, value) VALUES (?, ?)", (KEY, value))
