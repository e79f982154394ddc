"""Bringing a database file to this program's schema version, or refusing it untouched.

Each migration runs in one transaction together with its record and its version number, so a file
is always at one version, whole. A file of a newer program, of another program, or a damaged one
is left as it was; an older one is copied before it is changed. A new file appears under its name
only when it is complete. The caller holds the lease (`lease.py`); the schema is in `migrations/`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from groupx_server.ledger import connection as connections
from groupx_server.ledger.backup import PART_SUFFIX, copy_online, sync
from groupx_server.ledger.connection import corrupt_error, file_error, ledger_error
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.fileheader import FileState, NotADatabaseError, read_state, sidecar
from groupx_server.ledger.times import to_iso
from groupx_shared.errors import LedgerError, LedgerTooNewError

QUICK_CHECK_MAX_BYTES: Final = 8 * 1024 * 1024
"""Up to this size a file is checked at every start (about 20 ms); above it only before an
upgrade, since the check reads the whole file (2.5 s for 1 GiB)."""

OUR_TABLES: Final = frozenset({"schema_migrations", "actors", "events", "turns"})
"""In every version of the schema; a file without them is not ours."""

_FILE_NAME: Final = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: the version it leads to, the name it is recorded under, its SQL."""

    version: int
    name: str
    sql: str

    def statements(self) -> Iterator[str]:
        """The SQL, statement by statement (a trigger's body is part of its statement).

        Raises:
            ValueError: the last statement has no end.
        """
        lines: list[str] = []
        for line in self.sql.splitlines(keepends=True):
            lines.append(line)
            if sqlite3.complete_statement("".join(lines)):
                yield "".join(lines)
                lines.clear()
        if any(line.strip() and not line.startswith("--") for line in lines):
            raise ValueError(f"migration {self.version} ends inside a statement")


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """What `prepare` did; `from_version` is 0 for a new file."""

    from_version: int
    to_version: int
    backup_path: Path | None


@functools.cache
def load_migrations() -> tuple[Migration, ...]:
    """Return all migrations in order; the last one's version is the program's."""
    folder = importlib.resources.files("groupx_server.ledger.migrations")
    found = [
        Migration(int(match[1]), match[2], file.read_text("utf-8"))
        for file in folder.iterdir()
        if (match := _FILE_NAME.match(file.name)) is not None
    ]
    return tuple(sorted(found, key=lambda migration: migration.version))


def prepare(
    path: Path,
    *,
    now: Callable[[], datetime],
    migrations: Sequence[Migration] | None = None,
) -> UpgradeReport:
    """Make `path` a database of this program's version: create, upgrade, or leave it.

    Blocks, for a large old file for seconds. The folder is made (0700) when it is missing.

    Raises:
        LedgerTooNewError: written by a newer program; not touched.
        LedgerCorruptError: damaged, or not a database; not touched.
        LedgerBusyError: another program has it open while it must be upgraded.
        LedgerError: another program's database, or the folder or disk does not let us.
    """
    steps = load_migrations() if migrations is None else migrations
    connections.require_sqlite()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = _read_state(path)
        if not state.exists:
            _create(path, state, steps, now)
            return UpgradeReport(0, steps[-1].version, None)
        return _open_existing(path, state, steps, now)
    except sqlite3.Error as error:
        raise ledger_error(error, path) from error
    except OSError as error:
        raise file_error(error, path, "use the ledger") from error


def _read_state(path: Path) -> FileState:
    try:
        return read_state(path)
    except NotADatabaseError as error:
        raise corrupt_error(path, str(error)) from error


# ── A new file ────────────────────────────────────────────────────────────────────────────────


def _create(
    path: Path, state: FileState, steps: Sequence[Migration], now: Callable[[], datetime]
) -> None:
    _refuse_orphans(path, state)
    new = sidecar(path, ".new")
    new.unlink(missing_ok=True)  # of a creation that was killed
    try:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            # Thrown away when it fails: the journal can live in memory, one sync at the end.
            connection.execute("PRAGMA journal_mode=MEMORY").fetchall()
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA foreign_keys=ON")
            for step in steps:
                _apply(connection, step, now)
        sync(new)
        failpoint("create.before_rename")
        new.rename(path)
        failpoint("create.after_rename")
        sync(path.parent)
    finally:
        new.unlink(missing_ok=True)


def _refuse_orphans(path: Path, state: FileState) -> None:
    """A journal without its database may hold somebody's last messages, and SQLite would play it
    into the new file."""
    for suffix, is_there in (("-wal", state.has_wal), ("-journal", state.has_journal)):
        if is_there:
            orphan = sidecar(path, suffix)
            raise LedgerError(
                f"{path} is missing, but its journal {orphan.name} lies there and may hold the "
                "newest messages. Put the database back beside it, or move the journal away to "
                "start with a new ledger."
            )


# ── An existing file ──────────────────────────────────────────────────────────────────────────


def _open_existing(
    path: Path, state: FileState, steps: Sequence[Migration], now: Callable[[], datetime]
) -> UpgradeReport:
    newest = steps[-1].version
    if state.version > newest:
        raise LedgerTooNewError(
            f"{path} has schema version {state.version}; this program knows versions up to "
            f"{newest}. A newer GroupX wrote it: update GroupX, or choose another database. "
            "The file was not touched.",
            details={"found": state.version, "supported": newest},
        )
    _refuse_foreign(path, state)
    _make_private(path)
    _remove_leftovers(path)
    if state.version == newest and not state.has_journal:
        _check_small(path, state)
        return UpgradeReport(newest, newest, None)
    return _upgrade(path, steps, now)


def _refuse_foreign(path: Path, state: FileState) -> None:
    # With a journal beside it the file alone is not the whole truth, so SQLite must read both.
    if state.has_journal:
        return  # undone first, under the lock of the upgrade, which looks again
    with contextlib.closing(_open_to_look(path, state)) as connection:
        _require_ours(connection, path)


def _open_to_look(path: Path, state: FileState) -> sqlite3.Connection:
    return connections.open_reader(path) if state.has_wal else connections.open_frozen(path)


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {name for (name,) in rows}
    if tables and not tables >= OUR_TABLES:
        raise LedgerError(
            f"{path} is a SQLite database, but not one of GroupX. Choose another path for the "
            "ledger. The file was not touched."
        )


def _check_small(path: Path, state: FileState) -> None:
    if path.stat().st_size <= QUICK_CHECK_MAX_BYTES:
        with contextlib.closing(_open_to_look(path, state)) as connection:
            _quick_check(connection, path)


def _quick_check(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise corrupt_error(path, str(found).replace("\n", " "))


def _upgrade(path: Path, steps: Sequence[Migration], now: Callable[[], datetime]) -> UpgradeReport:
    with contextlib.closing(connections.open_alone(path)) as connection:
        _require_ours(connection, path)
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        pending = [step for step in steps if step.version > found]
        if pending or path.stat().st_size <= QUICK_CHECK_MAX_BYTES:
            _quick_check(connection, path)
        backup_path = None
        if pending and found > 0:
            backup_path = _backup_name(path, found, now())
            copy_online(connection, backup_path)
        for step in pending:
            _apply(connection, step, now)
    return UpgradeReport(found, steps[-1].version, backup_path)


def _backup_name(path: Path, version: int, moment: datetime) -> Path:
    base = f"{path.stem}.v{version}-{moment:%Y%m%d-%H%M%S}"
    target, number = path.with_name(f"{base}.bak.db"), 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{base}-{number}.bak.db")
    return target


def _make_private(path: Path) -> None:
    """The messages of a person are for that person: 0600, also for files made before us."""
    for file in (path, sidecar(path, "-wal"), sidecar(path, "-shm"), sidecar(path, "-journal")):
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _remove_leftovers(path: Path) -> None:
    """Unfinished copies of upgrades that were killed."""
    for entry in path.parent.iterdir():
        if entry.name.startswith(f".{path.stem}.v") and entry.name.endswith(PART_SUFFIX):
            entry.unlink(missing_ok=True)


# ── One migration ─────────────────────────────────────────────────────────────────────────────


def _apply(connection: sqlite3.Connection, step: Migration, now: Callable[[], datetime]) -> None:
    moment = {"now": to_iso(now())}
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in step.statements():
            connection.execute(statement, moment)
        failpoint("migrate.mid")
        connection.execute(
            "INSERT INTO schema_migrations(version, name, applied_at) VALUES (?, ?, ?)",
            (step.version, step.name, moment["now"]),
        )
        connection.execute(f"PRAGMA user_version = {step.version:d}")
        failpoint("migrate.before_commit")
        connection.execute("COMMIT")
        failpoint("migrate.after_commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
