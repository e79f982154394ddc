"""Ledger files for tests: a fixed clock, copies of the old files, looks into a file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from groupx_server.ledger.migrate import load_migrations
from ledger_files.build import file_of

NEWEST = load_migrations()[-1].version
"""The version of this program."""


def fixed_now() -> datetime:
    """2026-01-31 09:15:00.250999 UTC."""
    return datetime(2026, 1, 31, 9, 15, 0, 250_999, tzinfo=UTC)


def opened(path: Path) -> closing[sqlite3.Connection]:
    """Open a file as a stranger would; closed at the end of the `with` block."""
    return closing(sqlite3.connect(path))


def old_file(folder: Path, version: int) -> Path:
    """Put a ledger of that version into `folder` as `groupx.db`."""
    return Path(shutil.copyfile(file_of(version), folder / "groupx.db"))


def names_in(folder: Path) -> set[str]:
    """The names of what lies in `folder`."""
    return {entry.name for entry in folder.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    """Name and bytes of each file in `folder`."""
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def killed_with_wal(path: Path, folder: Path, statement: str) -> Path:
    """Make in `folder` what a program leaves that was killed after it committed `statement`: the
    database `groupx.db` and, beside it, the WAL that alone holds the change."""
    folder.mkdir()
    with opened(path) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(statement)
        connection.commit()
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", folder / f"groupx.db{suffix}")
    assert (folder / "groupx.db-wal").stat().st_size > 0
    return folder / "groupx.db"
