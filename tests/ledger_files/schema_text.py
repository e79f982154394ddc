"""The schema of a database as comparable text: one statement a line, no comments, no spacing.

The tables that SQLite's full-text search makes for itself are left out: their text differs
between versions of SQLite, and the statement that asks for them is there.
"""

from __future__ import annotations

import re
import sqlite3

_FTS_SHADOW = re.compile(r"_fts_(data|idx|docsize|config|content)$")


def normal_statement(sql: str) -> str:
    """Return one statement without comments and with the least white space."""
    sql = re.sub(r"--[^\n]*", " ", sql)
    sql = " ".join(sql.split())
    return re.sub(r" ?([(),;=]) ?", r"\1", sql)


def schema_lines(connection: sqlite3.Connection) -> list[str]:
    """Return the statements of tables, indexes and triggers, in the order of their names."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    kinds = {"table": 0, "index": 1, "trigger": 2}
    kept = [
        (kinds[kind], name, sql) for kind, name, sql in rows if not _FTS_SHADOW.search(str(name))
    ]
    return [normal_statement(sql) + ";" for _, _, sql in sorted(kept)]
