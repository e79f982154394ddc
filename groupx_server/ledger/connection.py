"""How a connection to the ledger is opened, and what SQLite's errors mean to people.

The invariant: exactly one connection of the server writes and checkpoints (SQLite up to 3.51.2
can damage a WAL file when two do so at once); all others are opened here as readers, which
cannot. Every `sqlite3.Error` and `OSError` that leaves the ledger is turned into a sentence by
`ledger_error` and `file_error`, nowhere else.
"""

from __future__ import annotations

import errno
import re
import shlex
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from groupx_shared.errors import (
    ErrorCode,
    GroupXError,
    LedgerBusyError,
    LedgerCorruptError,
    LedgerDiskError,
    LedgerError,
)

MIN_SQLITE: Final = (3, 35, 0)
"""RETURNING and UPDATE FROM; older builds also lack the JSON functions by default."""

BUSY_TIMEOUT_MS = 5000
"""How long a statement waits for another program's lock before it fails."""

STATEMENT_CACHE: Final = 512
"""Prepared statements kept per connection: more than the whole program has."""

CACHE_KIB: Final = 4096
"""Page cache of the writer; the readers take a quarter each. The system's cache backs them all:
with sixteen times of it a search and a row by its key took as long in 1,000,000 events, and the
server grew by 12 KB with each turn until all were full."""

UPGRADE_CACHE_KIB: Final = 65536
"""While nothing else runs."""

WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""A WAL that grew during a long read is cut back to this at its next reset."""

OVERWRITE: Final = "secure_delete=ON"
"""What is deleted is overwritten with zeros (`purge`); ordinary writes take the same time."""

BACKUP_FOLDER: Final = "backups"
"""Beside the database: where the daily backups lie."""

_SHOWN_BACKUPS: Final = 3
_BACKUP_STAMP: Final = re.compile(r"-(\d{8}-\d{6}(?:-\d+)?)\.bak\.db$")


def open_writer(path: Path) -> sqlite3.Connection:
    """Open the one connection that may write; the file must exist.

    The caller begins and ends transactions itself. Raises: sqlite3.Error.
    """
    connection = _connect(path, "mode=rw")
    try:
        _set(connection, f"journal_size_limit={WAL_LIMIT_BYTES}", f"cache_size=-{CACHE_KIB}")
        _set(connection, OVERWRITE)
        _set(connection, "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that can neither write nor checkpoint. Raises: sqlite3.Error."""
    connection = _connect(path, "mode=ro")
    try:
        _set(connection, "query_only=1", f"cache_size=-{CACHE_KIB // 4}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_frozen(path: Path) -> sqlite3.Connection:
    """Open a file that nobody writes and that has no journal beside it, leaving no trace."""
    return _connect(path, "mode=ro&immutable=1")


def open_alone(path: Path) -> sqlite3.Connection:
    """Open an existing file for an upgrade, shutting out every other program.

    The lease keeps other servers away, but an older program and a database browser do not know
    it. Raises: sqlite3.OperationalError (SQLITE_BUSY) when one of them has the file open.
    """
    connection = _connect(path, "mode=rw")
    try:
        _set(connection, "locking_mode=EXCLUSIVE", f"cache_size=-{UPGRADE_CACHE_KIB}")
        _set(connection, "synchronous=FULL", "foreign_keys=ON", OVERWRITE)
        connection.execute("BEGIN IMMEDIATE")  # takes the lock, and replays what a crash left
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, query: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        isolation_level=None,
        cached_statements=STATEMENT_CACHE,
        timeout=BUSY_TIMEOUT_MS / 1000,
    )
    try:
        _set(connection, "temp_store=MEMORY", "mmap_size=0")
    except BaseException:
        connection.close()
        raise
    return connection


def _set(connection: sqlite3.Connection, *pragmas: str) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").fetchall()


def require_sqlite() -> None:
    """Raises: LedgerError when Python's SQLite is too old or lacks full-text search."""
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        needed = ".".join(map(str, MIN_SQLITE))
        raise LedgerError(
            f"This Python has SQLite {sqlite3.sqlite_version}; GroupX needs {needed} or newer. "
            "Use a newer Python."
        )


def ledger_error(error: sqlite3.Error, path: Path) -> GroupXError:
    """Return our error for one of SQLite's, with a sentence that says what to do.

    The caller raises it `from` the original. A broken constraint becomes `STORE_CONFLICT`.
    """
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return corrupt_error(path, str(error))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return LedgerBusyError(
            f"Another program holds {path} and did not let go of it within "
            f"{BUSY_TIMEOUT_MS / 1000:g} s. Close it (a database browser, an older GroupX?) and "
            "try again."
        )
    if name == "SQLITE_INTERRUPT":
        return LedgerError("The ledger is closing.", code=ErrorCode.SHUTTING_DOWN)
    if name == "SQLITE_TOOBIG":
        return LedgerError("A value is larger than SQLite can hold; this change was not stored.")
    if name.startswith("SQLITE_CONSTRAINT"):
        return LedgerError(f"The ledger refused a row: {error}.", code=ErrorCode.STORE_CONFLICT)
    for prefix, sentence in _SENTENCES.items():
        if name.startswith(prefix):
            return LedgerDiskError(sentence.format(path=path, name=name, error=error))
    return LedgerError(f"SQLite refused a statement on {path}: {error} ({name or 'no code'}).")


_SENTENCES: Final = {
    "SQLITE_FULL": "The disk is full: {path} could not grow, and this change was not stored. "
    "Free some space and try again.",
    "SQLITE_READONLY": "{path} cannot be written. Make the file and its folder writable for you "
    "and try again.",
    "SQLITE_PERM": "{path} cannot be used: its permissions forbid it.",
    "SQLITE_AUTH": "{path} cannot be used: its permissions forbid it.",
    "SQLITE_CANTOPEN": "{path} cannot be opened. It, and its folder, must exist and be readable "
    "and writable for you.",
    "SQLITE_IOERR": "The disk failed under {path} ({name}); this change was not stored. Check the "
    "disk and its free space.",
    "SQLITE_NOMEM": "Not enough memory for {path}; this change was not stored.",
}

_OS_REASONS: Final = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied; it must be readable and writable for you",
    errno.EPERM: "permission denied; it must be readable and writable for you",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EEXIST: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder; a file was expected",
    errno.ENOENT: "it does not exist",
    errno.ENOLCK: "this file system has no locks; put the workspace on a local disk",
}


def file_error(error: OSError, path: Path, doing: str) -> LedgerError:
    """Return our error for a failed file operation: “cannot <doing> <path>: why”."""
    reason = _OS_REASONS.get(error.errno or 0) or error.strerror or str(error)
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        reason = "its folder does not exist; make it, or choose another place"
    return LedgerError(f"Cannot {doing} {path}: {reason}.")


def corrupt_error(path: Path, found: str) -> LedgerCorruptError:
    """Return the error for a damaged file; it names the newest backups beside it."""
    backups = find_backups(path)
    names = [str(backup.relative_to(path.parent)) for backup in backups[:_SHOWN_BACKUPS]]
    if names:
        command = shlex.join(["groupx", "restore", str(backups[0]), "--to", str(path)])
        advice = f"“{command}” (found: {', '.join(names)})"
    else:
        advice = "put a backup in its place, or start with a new ledger (no backup lies beside it)"
    return LedgerCorruptError(
        f"{path} is damaged or not a database, or its disk cannot be read ({found}). It was left "
        f"as it is. “groupx verify” tells which. If it is damaged, stop the server, "
        f"move it aside, with its -wal file if there is one, and {advice}.",
        details={"backups": [str(backup) for backup in backups]},
    )


def find_backups(path: Path) -> list[Path]:
    """Return the copies that GroupX made of `path`, newest first."""
    return [backup for backup, _ in dated_backups(path)]


def dated_backups(path: Path) -> list[tuple[Path, datetime]]:
    """Return the copies that GroupX made of `path` (before an upgrade, daily, when its file was
    lost) with the times in their names, newest first: beside it and in `backups/`."""
    starts = (f"{path.stem}.", f"{path.stem}-")
    stamped = [
        (stamp.group(1), entry)
        for folder in (path.parent, path.parent / BACKUP_FOLDER)
        for entry in _entries(folder)
        if entry.name.startswith(starts) and (stamp := _BACKUP_STAMP.search(entry.name)) is not None
    ]
    return [(entry, _moment(stamp)) for stamp, entry in sorted(stamped, reverse=True)]


def _moment(stamp: str) -> datetime:
    try:
        return datetime.strptime(f"{stamp[:15]}+0000", "%Y%m%d-%H%M%S%z")
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)  # no date at all; listed all the same


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []  # the sentence about the damage matters more than the list
