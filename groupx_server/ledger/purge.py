"""Getting the bytes of removed texts out of the file and its journal.

A deleted text stays in free pages, in the index's segments and in the WAL. So: the indexes are
merged into one segment each, every page of the file is written anew, and the WAL is cut (SQLite's
secure_delete would only make this slower: pages that were freed before keep what they held).
VACUUM may number the rows of tables without an integer key anew, and two old indexes point at such
numbers; they are built anew right after it, and a mark in the file says that this is due, should
the program be killed in between. The step runs alone on the writer's connection; others wait.
"""

from __future__ import annotations

import mmap
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import orjson

from groupx_server.ledger.failpoints import failpoint
from groupx_shared.errors import LedgerBusyError

MARK: Final = "purge"
"""Key in `ledger_meta` while the old indexes may point at other rows."""
OLD_INDEXES: Final = ("memory_records_fts", "identity_records_fts")
LARGE_BYTES: Final = 128 * 1024 * 1024
"""A file up to here is written anew in memory, a larger one beside itself."""
CHECKPOINT_TRIES: Final = 12
"""Each waits for readers as long as the connection's busy timeout."""
LEAST_PROBE: Final = 6
"""Characters of a text that is looked for in files; a shorter one is there by chance."""
PROBE_CHARS: Final = 200
"""Of a long text, from its beginning and from its middle."""


def purge(connection: sqlite3.Connection) -> None:
    """Write the file anew without what was removed, and cut the WAL.

    Raises: LedgerBusyError when a reader holds on to the WAL: old pages may be there still.
    """
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        connection.execute("BEGIN IMMEDIATE")
        _set_mark(connection)
        for index in ("search_fts", *OLD_INDEXES):
            connection.execute(f"INSERT INTO {index}({index}) VALUES ('optimize')")
        connection.execute("COMMIT")
        failpoint("purge.before_vacuum")
        _pragma(connection, f"temp_store={'MEMORY' if pages * size < LARGE_BYTES else 'FILE'}")
        connection.execute("VACUUM")
        failpoint("purge.after_vacuum")
        repair(connection)
        _cut_journal(connection)
    finally:
        _pragma(connection, "temp_store=MEMORY")


def repair(connection: sqlite3.Connection) -> None:
    """Build the old indexes anew when a purge may have left them pointing at other rows."""
    if connection.execute("SELECT 1 FROM ledger_meta WHERE key = ?", (MARK,)).fetchone() is None:
        return
    for index in OLD_INDEXES:
        connection.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
    connection.execute("DELETE FROM ledger_meta WHERE key = ?", (MARK,))


def files_with(texts: Iterable[str], files: Sequence[Path]) -> list[Path]:
    """Those of `files` in whose bytes one of the texts stands. Raises: OSError."""
    probes = _probes(texts)
    return [file for file in files if file.exists() and probes and _stands_in(probes, file)]


def _probes(texts: Iterable[str]) -> set[bytes]:
    probes = set()
    for text in texts:
        half = len(text) // 2
        for piece in (text[:PROBE_CHARS], text[half : half + PROBE_CHARS]):
            if len(piece.strip()) >= LEAST_PROBE:
                probes.add(piece.encode())
                probes.add(orjson.dumps(piece)[1:-1])
    return probes


def _stands_in(probes: set[bytes], file: Path) -> bool:
    with file.open("rb") as opened:
        if opened.seek(0, 2) == 0:
            return False
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(probe) >= 0 for probe in probes)


def _set_mark(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO ledger_meta(key, value) VALUES (?, 'due')", (MARK,))


def _cut_journal(connection: sqlite3.Connection) -> None:
    for _ in range(CHECKPOINT_TRIES):
        (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_busy:
            return
    raise LedgerBusyError(
        "The text is removed, but a long read keeps its bytes in the database's files; purge once "
        "more when it has ended."
    )


def _pragma(connection: sqlite3.Connection, pragma: str) -> None:
    connection.execute(f"PRAGMA {pragma}").fetchall()
