"""Proving the search index: FTS5's own check, and that rows have the words of their texts.

SQLite's integrity check does not look into a full-text index, and FTS5's check is a statement that
writes; so it is asked of a copy of the index's tables, which lives as long as the check. What a row
should hold is made again from the ledger and compared: the number of words in each column, and
every word of it. The counterpart is `searchindex`, which keeps the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from groupx_server.domain.searchtext import IndexText
from groupx_server.ledger.searchindex import is_outdated, words_put
from groupx_server.ledger.searchrows import Row, put, row_of

SINCE: Final = 20
"""Schema version that made the index as it is."""
SOUND: Final = "the search index passes its own check"
WORDS: Final = "rows of the search index have the words of their texts"
SAMPLE: Final = 400
"""Rows that are looked at, evenly over the index, unless all are asked for."""
MAX_WORDS: Final = 64
"""Asked of one row, from its beginning; their number is compared for all of them."""
_TABLES: Final = {"data": 2, "idx": 3, "docsize": 2, "config": 2}
"""What FTS5 keeps of a table without content, with the number of columns."""


def unsound_index(connection: sqlite3.Connection) -> str | None:
    """What FTS5's own check finds, in its words; None when the index is sound."""
    try:
        with closing(_empty_index(connection)) as copy:
            for name, columns in _TABLES.items():
                copy.execute(f"DELETE FROM search_fts_{name}")
                marks = ", ".join("?" * columns)
                copy.executemany(
                    f"INSERT INTO search_fts_{name} VALUES ({marks})",
                    connection.execute(f"SELECT * FROM search_fts_{name}"),
                )
            copy.execute("INSERT INTO search_fts(search_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def rows_without_words(connection: sqlite3.Connection, *, is_deep: bool, most: int) -> list[str]:
    """Messages and records whose row does not hold exactly their words, at most so many."""
    found: list[str] = []
    if is_outdated(connection):
        return found  # the next server builds it anew
    try:
        with closing(_empty_index(connection)) as model:
            model.execute(_sql_of(connection, "search_rows"))
            for row in _rows(connection, is_deep=is_deep):
                made = words_put(connection, row)
                if made is None or not _holds(connection, model, row, *made):
                    found.append(row.ref_id)
                    if len(found) >= most:
                        break
    except sqlite3.DatabaseError as error:
        return [f"this cannot be checked: {error}"]
    return found


def _holds(
    connection: sqlite3.Connection,
    model: sqlite3.Connection,
    row: Row,
    words: IndexText,
    context: str,
) -> bool:
    put(model, row, words, context)
    sizes = "SELECT sz FROM search_fts_docsize WHERE id = ?"
    expected = model.execute(sizes, (row.row_id,)).fetchone()
    model.execute("DELETE FROM search_rows")
    model.execute("INSERT INTO search_fts(search_fts) VALUES ('delete-all')")
    if connection.execute(sizes, (row.row_id,)).fetchone() != expected:
        return False
    every = dict.fromkeys(f"{words.main} {words.singles} {context}".split())
    query = " AND ".join(f'"{word}"' for word in list(every)[:MAX_WORDS])
    if not query:
        return True
    match = "SELECT 1 FROM search_fts WHERE search_fts MATCH ? AND rowid = ?"
    return connection.execute(match, (query, row.row_id)).fetchone() is not None


def _rows(connection: sqlite3.Connection, *, is_deep: bool) -> Iterator[Row]:
    (count,) = connection.execute("SELECT count(*) FROM search_rows").fetchone()
    step = 1 if is_deep else max(1, count // SAMPLE)
    ids = connection.execute("SELECT row_id FROM search_rows ORDER BY row_id").fetchall()
    for (row_id,) in ids[::step]:
        row = row_of(connection, row_id)
        if row is not None:
            yield row


def _empty_index(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A database of its own, in memory as long as it is small, that is gone when it is closed."""
    made = sqlite3.connect("", isolation_level=None)
    try:
        made.execute("PRAGMA synchronous=OFF")
        made.execute("PRAGMA journal_mode=OFF").fetchall()
        made.execute(_sql_of(connection, "search_fts"))
    except BaseException:
        made.close()
        raise
    return made


def _sql_of(connection: sqlite3.Connection, table: str) -> str:
    row = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if row is None:
        raise sqlite3.DatabaseError(f"there is no table {table}")
    return str(row[0])
