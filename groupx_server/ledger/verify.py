"""Proving a ledger: SQLite's own checks, and every rule of `rules.py`.

Used by crash tests after each kill, and by whoever wants to prove a file (`examine.py`). Grows
with the ledger; never called while serving.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger import indexcheck
from groupx_server.ledger.rules import RULES, Rule

SHOWN: Final = 5
"""Examples listed of each broken rule."""

INTEGRITY: Final = "SQLite's integrity check passes"
FOREIGN_KEYS: Final = Rule("foreign keys hold", "PRAGMA foreign_key_check")


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule with some of the rows that break it."""

    rule: str
    rows: tuple[str, ...]


def rules_for(version: int) -> tuple[Rule, ...]:
    """The rules that can be asked of a file of this schema version."""
    return (FOREIGN_KEYS, *(rule for rule in RULES if rule.since <= version))


def find_violations(connection: sqlite3.Connection, *, is_deep: bool = False) -> list[Violation]:
    """Check everything that the file's version can be asked; `is_deep`: every row of the search
    index and not some hundreds."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    found = damage(connection)
    for rule in rules_for(version):
        if rows := _breaking(connection, rule):
            found.append(Violation(rule.name, rows))
    if version >= indexcheck.SINCE:
        found += _index_faults(connection, is_deep=is_deep)
    return found


def _index_faults(connection: sqlite3.Connection, *, is_deep: bool) -> list[Violation]:
    if (fault := indexcheck.unsound_index(connection)) is not None:
        return [Violation(indexcheck.SOUND, (fault,))]
    rows = indexcheck.rows_without_words(connection, is_deep=is_deep, most=SHOWN)
    return [Violation(indexcheck.WORDS, tuple(rows))] if rows else []


def damage(connection: sqlite3.Connection) -> list[Violation]:
    """SQLite's integrity check, as a violation when it does not pass."""
    try:
        lines = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        lines = [str(error)]
    return [] if lines == ["ok"] else [Violation(INTEGRITY, tuple(lines[:SHOWN]))]


def _breaking(connection: sqlite3.Connection, rule: Rule) -> tuple[str, ...]:
    try:
        rows = connection.execute(rule.sql).fetchmany(SHOWN)
    except sqlite3.DatabaseError as error:
        return (f"this cannot be checked: {error}",)
    return tuple(str(row[0]) for row in rows)
