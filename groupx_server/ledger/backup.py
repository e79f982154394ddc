"""A consistent copy of a ledger while it is in use.

The copy appears under its name only when it is whole, on disk and proven (`copycheck`): it is
written to a `.part` file beside it, synced, read back, and then linked to its name, which fails
rather than replaces. It is one file without journals, readable from anywhere. Made by `migrate`
before an upgrade, by the backups of portability/ and when a file was lost (`presence`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from groupx_server.ledger.connection import file_error, ledger_error, open_reader
from groupx_server.ledger.copycheck import (
    Facts,
    KeepGoing,
    check_copy,
    facts_of,
    require_wanted,
)
from groupx_server.ledger.failpoints import failpoint
from groupx_shared.errors import LedgerError

PART_SUFFIX: Final = ".part"


def _always() -> bool:
    return True


def copy_online(
    source: Path | sqlite3.Connection,
    target: Path,
    pages_per_step: int = 2000,
    *,
    keep_going: KeepGoing = _always,
    edit: Callable[[sqlite3.Connection], None] | None = None,
) -> Facts:
    """Copy the database to `target`, mode 0600, as it is at this moment; return what it holds.

    One read snapshot is held for the whole copy, so writers go on and never make it start again.
    A given connection must not be inside a transaction, and is used by this thread meanwhile.
    Blocks; call it from a thread of its own. `keep_going` is asked every few milliseconds; `edit`
    may change values in the copy, not the number of rows.

    Raises:
        LedgerError: `target` exists, or cannot be written, or the disk is full; SHUTTING_DOWN
            when `keep_going` said no.
        LedgerCorruptError: the source is damaged.
    """
    if os.path.lexists(target):
        raise LedgerError(f"{target} exists already; a backup never replaces a file.")
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        if isinstance(source, Path):
            with contextlib.closing(_open(source)) as connection:
                facts = _copy(connection, part, pages_per_step, target, keep_going, edit)
        else:
            facts = _copy(source, part, pages_per_step, target, keep_going, edit)
        failpoint("backup.before_check")
        check_copy(part, facts, keep_going)
        _publish(part, target)
        return facts
    except OSError as error:
        raise file_error(error, target, "write the backup") from error
    finally:
        part.unlink(missing_ok=True)


def _open(source: Path) -> sqlite3.Connection:
    try:
        return open_reader(source)
    except sqlite3.Error as error:
        raise ledger_error(error, source) from error


def _copy(
    source: sqlite3.Connection,
    part: Path,
    pages_per_step: int,
    target: Path,
    keep_going: KeepGoing,
    edit: Callable[[sqlite3.Connection], None] | None,
) -> Facts:
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def after_step(_status: int, _remaining: int, _total: int) -> None:
        # One sync of the whole at the end would hold up every commit meanwhile (0.4 s for 1 GB).
        os.fsync(descriptor)
        failpoint("backup.mid")
        require_wanted(keep_going)

    try:
        with contextlib.closing(sqlite3.connect(part, isolation_level=None)) as copy:
            # The part file is thrown away after a crash, so it needs no journal of its own.
            copy.execute("PRAGMA journal_mode=OFF").fetchall()
            copy.execute("PRAGMA synchronous=OFF")
            source.execute("BEGIN")
            try:
                source.execute("SELECT count(*) FROM sqlite_master").fetchall()  # fix the snapshot
                source.backup(copy, pages=pages_per_step, progress=after_step)
                facts = facts_of(source)
            finally:
                source.execute("ROLLBACK")
            if edit is not None:
                edit(copy)
            copy.execute("PRAGMA journal_mode=DELETE").fetchall()
        os.fsync(descriptor)
        return facts
    except sqlite3.DatabaseError as error:
        is_damaged = not isinstance(error, sqlite3.OperationalError)  # then it is the source
        raise ledger_error(error, _file_of(source) if is_damaged else target) from error
    finally:
        os.close(descriptor)


def _file_of(connection: sqlite3.Connection) -> Path:
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def _publish(part: Path, target: Path) -> None:
    failpoint("backup.before_publish")
    try:
        os.link(part, target)
    except FileExistsError as error:
        raise LedgerError(f"{target} exists already; a backup never replaces a file.") from error
    except OSError:
        # A file system without hard links: the look at the start is all the protection there is.
        part.rename(target)
    sync(target.parent)
    failpoint("backup.after_publish")


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
