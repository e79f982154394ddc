"""Getting the bytes of removed texts out of the file and its journal.

Every connection that writes overwrites what it deletes with zeros (`secure_delete`), so most of a
removed text is gone with the removal. What is left goes in three steps. The search index is merged
into one segment, in small steps between which others write (`merge_some`). A file that was once
written without overwriting is written anew, once (`rewrite`). Then the WAL is cut and the gaps of
the pages are wiped (`clean`); both run alone on the writer's connection.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from groupx_server.ledger.deadspace import Layout, dead_ranges, layout_of
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.fileheader import sidecar
from groupx_server.ledger.rawfile import RawFile
from groupx_shared.errors import LedgerBusyError

OVERWRITTEN: Final = "overwritten"
"""Key in `ledger_meta`: nothing was ever deleted in this file without being overwritten."""
MERGE_PAGES: Final = 256
"""Of one step of the index's merge: some 30 ms in which nobody else writes."""
MOST_STEPS: Final = 20_000
"""A merge that does not end by then is left: the search for bytes says what stayed."""
LARGE_BYTES: Final = 128 * 1024 * 1024
"""A file up to here is written anew in memory, a larger one beside itself."""
CHECKPOINT_TRIES: Final = 12
"""Each waits for readers as long as the connection's busy timeout."""


def merge_some(connection: sqlite3.Connection, *, is_first: bool) -> bool:
    """A step of merging the search index into one segment; True when there is nothing left to do.

    What was taken out of the index stands in its segments, and again in the note that it was taken
    out, until they are merged.
    """
    before = connection.total_changes
    connection.execute(
        "INSERT INTO search_fts(search_fts, rank) VALUES ('merge', ?)",
        (-MERGE_PAGES if is_first else MERGE_PAGES,),
    )
    failpoint("purge.mid_merge")
    return connection.total_changes - before < 2  # what FTS5 documents: it did nothing


def is_overwritten(connection: sqlite3.Connection) -> bool:
    """Whether all that was ever deleted in this file was overwritten."""
    row = connection.execute("SELECT 1 FROM ledger_meta WHERE key = ?", (OVERWRITTEN,)).fetchone()
    return row is not None


def rewrite(connection: sqlite3.Connection, now: str) -> None:
    """Write every page anew, because free ones may hold old texts, and note that it is done."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    try:
        _pragma(connection, f"temp_store={'MEMORY' if pages * size < LARGE_BYTES else 'FILE'}")
        connection.execute("VACUUM")
    finally:
        _pragma(connection, "temp_store=MEMORY")
    connection.execute(
        "INSERT OR REPLACE INTO ledger_meta(key, value) VALUES (?, ?)", (OVERWRITTEN, now)
    )


def clean(connection: sqlite3.Connection, file: RawFile) -> int:
    """Cut the WAL and wipe the gaps of all pages; return how many held something.

    Only bytes that belong to nothing are written, each within its own gap, so a kill or a power cut
    in between does no harm (as SQLite, we trust that a write touches only the bytes it names).

    Raises: LedgerBusyError when a reader holds on to the WAL; OSError.
    """
    _cut_journal(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _has_journal(file):
            raise _busy()  # another program wrote just now
        count = _wipe(file)
    finally:
        connection.execute("ROLLBACK")
    # A page in the cache still has its gap as it was, and would bring it back when it changes.
    _pragma(connection, "shrink_memory")
    failpoint("purge.after_clean")
    return count


def _wipe(file: RawFile) -> int:
    count = 0
    layout: Layout | None = None
    for offset, piece in file.pieces():
        if offset == 0:
            layout = layout_of(piece)
        if layout is None or len(piece) % layout.page_size:
            break
        for begin, end in dead_ranges(piece, offset, layout):
            file.wipe(begin, end)
            count += 1
    file.sync()
    return count


def _has_journal(file: RawFile) -> bool:
    wal = sidecar(file.path, "-wal")
    return wal.exists() and wal.stat().st_size > 0


def _cut_journal(connection: sqlite3.Connection) -> None:
    for _ in range(CHECKPOINT_TRIES):
        (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_busy:
            return
    raise _busy()


def _busy() -> LedgerBusyError:
    return LedgerBusyError(
        "The text is removed, but a long read keeps its bytes in the database's files; purge once "
        "more when it has ended."
    )


def _pragma(connection: sqlite3.Connection, pragma: str) -> None:
    connection.execute(f"PRAGMA {pragma}").fetchall()
