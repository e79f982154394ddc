"""A disk that refuses commits or reads of the ledger on command, as SQLite would report it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from groupx_server.ledger import connection as connections

TEXTS = {
    "SQLITE_FULL": "database or disk is full",
    "SQLITE_IOERR_WRITE": "disk I/O error",
    "SQLITE_READONLY": "attempt to write a readonly database",
    "SQLITE_CORRUPT": "database disk image is malformed",
}


class FaultyDisk:
    """Install before the ledger is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.write_error: str | None = None
        """Every commit fails with this while it is set."""
        self.read_error: str | None = None
        """Every read of the pool fails with this while it is set."""
        self._commits = 0
        self._planned: dict[int, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tried = asyncio.Event()
        original = connections._connect

        def connect(path: Path, query: str) -> sqlite3.Connection:
            return _Refusing(original(path, query), self, query)  # type: ignore[return-value]

        monkeypatch.setattr(connections, "_connect", connect)

    def plan(self, first: int, count: int, error: str) -> None:
        """Let `count` commits fail, from the one that is number `first` from now on (0: next)."""
        self._loop = asyncio.get_running_loop()
        self._planned = dict.fromkeys(range(first, first + count), error)
        self._commits = 0

    async def tried(self, count: int) -> None:
        """Wait until that many commits were tried since `plan`, whether they succeeded or not."""
        while self._commits < count:
            self._tried.clear()
            await self._tried.wait()

    def pass_commit(self) -> None:
        number, self._commits = self._commits, self._commits + 1
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._tried.set)
        self._raise(self.write_error or self._planned.get(number))

    def pass_read(self) -> None:
        self._raise(self.read_error)

    def _raise(self, name: str | None) -> None:
        if name is not None:
            error = sqlite3.OperationalError(TEXTS[name])
            error.sqlite_errorname = name
            raise error


class _Refusing:
    """A connection whose COMMIT (of the writer) or BEGIN (of a reader) the disk may refuse."""

    def __init__(self, connection: sqlite3.Connection, disk: FaultyDisk, query: str) -> None:
        self._connection = connection
        self._disk = disk
        self._is_reader = "mode=ro" in query

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            self._disk.pass_commit()
        elif sql == "BEGIN" and self._is_reader:
            self._disk.pass_read()
        return self._connection.execute(sql, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
