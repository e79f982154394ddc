"""Is a copy what it was copied from? Asked before the copy gets its name (`backup.py`).

The source is counted inside the copy's own snapshot, so both must agree to the row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_server.ledger.connection import open_frozen
from groupx_shared.errors import ErrorCode, LedgerCorruptError, LedgerError

KeepGoing = Callable[[], bool]

STEPS_BETWEEN_LOOKS: Final = 100_000
"""Of SQLite's virtual machine, between two questions whether to go on: a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Schema version and rows of each table."""

    version: int
    rows: dict[str, int]


def facts_of(connection: sqlite3.Connection) -> Facts:
    """Count a database. Raises: sqlite3.Error."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    return Facts(version, {table: _count(connection, table) for (table,) in tables})


def _count(connection: sqlite3.Connection, table: str) -> int:
    name = table.replace('"', '""')
    return int(connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])


def check_copy(copy: Path, expected: Facts, keep_going: KeepGoing) -> None:
    """Read the whole copy.

    Raises: LedgerCorruptError when it is damaged or not what was copied; LedgerError
        (SHUTTING_DOWN) when `keep_going` said no.
    """
    try:
        with closing(open_frozen(copy)) as connection:
            connection.set_progress_handler(lambda: not keep_going(), STEPS_BETWEEN_LOOKS)
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            facts = facts_of(connection)
    except sqlite3.Error as error:
        require_wanted(keep_going)
        found, facts = str(error), expected
    if found != "ok":
        line = " ".join(found.split())
        raise LedgerCorruptError(
            f"The copy does not pass SQLite's check ({line}), so it was thrown away; the original "
            "is likely damaged. Prove it with “groupx verify FILE”."
        )
    if facts != expected:
        raise LedgerCorruptError(
            "The copy does not hold what the original holds, so it was thrown away. Try again; "
            "if it happens twice, check the disk."
        )


def require_wanted(keep_going: KeepGoing) -> None:
    """Raises: LedgerError (SHUTTING_DOWN) when the copy is not wanted any more."""
    if not keep_going():
        raise LedgerError("The copy was given up.", code=ErrorCode.SHUTTING_DOWN)
