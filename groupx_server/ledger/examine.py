"""A database file seen from outside: what it is, what it holds, whether it is sound.

For files of every version, also of the earlier program, with or without a server that uses them;
nothing is written to them. Never for a ledger that this very process has open: closing a file that
SQLite has open frees SQLite's locks on it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from groupx_server.ledger import connection as connections
from groupx_server.ledger.connection import corrupt_error, file_error, ledger_error
from groupx_server.ledger.fileheader import FileState, NotADatabaseError, read_state
from groupx_server.ledger.migrate import OUR_TABLES, load_migrations
from groupx_server.ledger.verify import Violation, damage, find_violations, rules_for
from groupx_shared.errors import LedgerError


@dataclass(frozen=True, slots=True)
class Contents:
    """What a ledger holds. `ledger_id` is empty before version 10."""

    version: int
    ledger_id: str
    last_seq: int
    events: int
    messages: int
    rooms: int
    agents: int
    turns: Mapping[str, int]
    """Number of turns by status."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings; `violations` is empty when everything that was asked is true."""

    path: Path
    contents: Contents | None
    """None when the file is too damaged, or too new, to be counted."""
    rules: int
    """How many rules were asked."""
    is_newer: bool = False
    """Written by a newer program: only SQLite's own check was made."""
    violations: list[Violation] = field(default_factory=list)


def examine(path: Path, *, is_deep: bool = False) -> Examination:
    """Check a whole file. Takes seconds for each gigabyte, minutes when `is_deep`.

    Raises: LedgerError when it cannot be read or is no ledger; LedgerCorruptError when it is so
        damaged that SQLite does not open it.
    """
    state = _state(path)
    try:
        with closing(_open(path, state)) as connection:
            connection.execute("BEGIN")  # one moment for all questions
            _require_ours(connection, path)
            return _findings(connection, path, is_deep=is_deep)
    except sqlite3.Error as error:
        raise ledger_error(error, path) from error


def read_contents(connection: sqlite3.Connection) -> Contents:
    """Count what a ledger of any version holds."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    last_seq, events, rooms = connection.execute(
        "SELECT COALESCE(MAX(seq), 0), count(*), count(DISTINCT room_id) FROM events"
    ).fetchone()
    ledger_id = ""
    if version >= 10:
        row = connection.execute("SELECT value FROM ledger_meta WHERE key = 'ledger_id'").fetchone()
        ledger_id = "" if row is None else str(row[0])
        (rooms,) = connection.execute("SELECT count(*) FROM rooms").fetchone()
    return Contents(
        version=version,
        ledger_id=ledger_id,
        last_seq=last_seq,
        events=events,
        messages=_count(connection, "events WHERE event_type = 'message.created'"),
        rooms=rooms,
        agents=_count(connection, "actors WHERE kind = 'agent'"),
        turns=dict(connection.execute("SELECT status, count(*) FROM turns GROUP BY 1").fetchall()),
    )


def _state(path: Path) -> FileState:
    try:
        state = read_state(path)
    except NotADatabaseError as error:
        raise corrupt_error(path, str(error)) from error
    except OSError as error:
        raise file_error(error, path, "read") from error
    if not state.exists:
        raise LedgerError(f"There is no database {path}, or it is empty.")
    if state.has_journal:
        raise LedgerError(
            f"{path} has a -journal file beside it: a program was killed in the middle of a "
            "change, which must be undone first. Start GroupX with it once, or look at a copy of "
            "both files."
        )
    return state


def _open(path: Path, state: FileState) -> sqlite3.Connection:
    return connections.open_reader(path) if state.has_wal else connections.open_frozen(path)


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    try:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.DatabaseError as error:
        raise corrupt_error(path, str(error)) from error
    if not {name for (name,) in rows} >= OUR_TABLES:
        raise LedgerError(f"{path} is a SQLite database, but not one of GroupX.")


def _findings(connection: sqlite3.Connection, path: Path, *, is_deep: bool) -> Examination:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > load_migrations()[-1].version:
        return Examination(path, None, 0, is_newer=True, violations=damage(connection))
    violations = find_violations(connection, is_deep=is_deep)
    try:
        contents = read_contents(connection)
    except sqlite3.DatabaseError:  # the integrity check among the violations says why
        contents = None
    return Examination(path, contents, len(rules_for(version)), violations=violations)


def _count(connection: sqlite3.Connection, what: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0])
