"""The ledger as the rest of the server sees it: one object to write, read and wait for changes.

Owns the lease, the writer and the readers of one database file, in this order, and ends them in
the reverse order. `last_seq` only moves after a commit, before that commit's callers are
answered. Which rows mean what is the business of the other modules of this package.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.batch import Step, closed_error
from groupx_server.ledger.connection import file_error
from groupx_server.ledger.freshrows import Committed, FreshRows
from groupx_server.ledger.lease import Lease
from groupx_server.ledger.migrate import UpgradeReport, prepare
from groupx_server.ledger.rawfile import RawFile
from groupx_server.ledger.readers import Query, Readers
from groupx_server.ledger.times import utc_now
from groupx_server.ledger.writer import Writer
from groupx_shared.errors import LedgerCorruptError, LedgerDiskError

T = TypeVar("T")


class Ledger:
    """One open database. Use `await Ledger.open(path)`, then `aclose()` or `async with`."""

    def __init__(self, path: Path, lease: Lease, upgrade: UpgradeReport) -> None:
        self.path = path
        self.upgrade = upgrade
        """What opening did to the file: created, upgraded (with a backup), or nothing."""
        self.ledger_id = ""
        """32 hex digits that name this ledger for as long as it lives, copies included."""
        self.last_seq = 0
        """The seq of the newest event on disk, 0 when there is none."""
        self.raw = RawFile(path)
        """The file's bytes, for getting removed texts out of them."""
        self.fresh = FreshRows()
        """The newest events, kept while somebody listens."""
        self._lease = lease
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._changed = asyncio.Event()
        self._is_closed = False

    @classmethod
    async def open(cls, path: Path, *, now: Callable[[], datetime] = utc_now) -> Self:
        """Take the lease, bring the file to this program's version, start the threads.

        Does not block the loop. A cancelled open leaves the file whole; an upgrade that was under
        way ends by itself and frees the lease then.

        Raises:
            LedgerBusyError: another server, or during an upgrade another program, holds it.
            LedgerTooNewError: written by a newer program; not touched.
            LedgerCorruptError: damaged; the sentence says what to do.
            LedgerError: anything else that keeps it from being used.
        """
        path, lease, upgrade = await _prepare(path, now)
        ledger = cls(path, lease, upgrade)
        try:
            await ledger._start()
        except BaseException:
            await ledger.aclose()
            raise
        return ledger

    async def _start(self) -> None:
        self._writer = await Writer.open(
            self.path, measure=self.fresh.read, on_commit=self._on_commit, probe=_touch
        )
        self._readers = await Readers.open(self.path)
        self.ledger_id, self.last_seq = await self._readers.read(_facts)

    async def write(self, step: Step[T]) -> T:
        """Run `step` in a transaction and return its result once it is on disk (see
        `Writer.submit` for its rules and errors)."""
        if self._writer is None:
            raise closed_error()
        try:
            return await self._writer.submit(step)
        except LedgerCorruptError as error:
            self._writer.health.note("damage", error.message)
            raise

    async def write_alone(self, step: Step[T]) -> T:
        """Run `step`, which brings its own transactions, while nobody else writes (see
        `Writer.submit_alone`)."""
        if self._writer is None:
            raise closed_error()
        return await self._writer.submit_alone(step)

    async def read(self, query: Query[T]) -> T:
        """Run `query` on one snapshot (see `Readers.read` for its rules and errors)."""
        if self._readers is None or self._writer is None:
            raise closed_error()
        health = self._writer.health
        try:
            found = await self._readers.read(query)
        except LedgerCorruptError as error:
            health.note("damage", error.message)
            raise
        except LedgerDiskError as error:
            health.note("read", error.message)
            raise
        health.note("read", None)
        return found

    async def changed(self, after_seq: int) -> int:
        """Wait until there is an event after `after_seq`; return `last_seq`.

        Any number may wait; bound it with `asyncio.timeout`.

        Raises:
            LedgerError: the ledger closes meanwhile.
        """
        while self.last_seq <= after_seq:
            if self._is_closed:
                raise closed_error()
            await self._changed.wait()
        return self.last_seq

    @property
    def lease_mark(self) -> str:
        """Names the file whose lease this is. A copy of the ledger has the same id, and may be in
        use by another server; it does not have the same mark."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:32]

    async def backup(self, target: Path) -> None:
        """Copy the ledger to `target` as it is now, while writing goes on.

        Raises:
            LedgerError: `target` exists or cannot be written.
        """
        await asyncio.to_thread(copy_online, self.path, target)

    @property
    def is_open(self) -> bool:
        """It takes work: `aclose` was not called."""
        return not self._is_closed

    @property
    def is_healthy(self) -> bool:
        """The ledger is open and nothing is wrong with it."""
        return not self._is_closed and self.problem is None

    @property
    def problem(self) -> str | None:
        """What is wrong, in a sentence: commits or reads fail, or the file is damaged (that stays
        until the server is started with a sound file). None while all is well."""
        return None if self._writer is None else self._writer.health.problem

    async def aclose(self) -> None:
        """Finish what was submitted, end the threads, free the lease; again is harmless.

        Raises:
            LedgerError: a step or a query does not end. The lease stays with its thread, which
                may still write, until the process ends.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._changed.set()
        try:
            if self._readers is not None:
                await self._readers.aclose()
        finally:
            # The writer closes last: the last connection moves the WAL into the database.
            if self._writer is not None:
                await self._writer.aclose()
            self.raw.close()
            self._lease.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _on_commit(self, committed: Committed) -> None:
        self.fresh.take(committed)
        if committed.newest_seq <= self.last_seq:
            return
        self.last_seq = committed.newest_seq
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()


def _lease_and_prepare(
    path: Path, now: Callable[[], datetime]
) -> tuple[Path, Lease, UpgradeReport]:
    try:
        real = path.expanduser().resolve()  # two names of one file share one lease
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        failed = error if isinstance(error, OSError) else OSError(str(error))
        raise file_error(failed, path.parent, "make the folder") from error
    lease = Lease.take(real, now=now)
    try:
        return real, lease, prepare(real, now=now)
    except BaseException:
        lease.release()
        raise


async def _prepare(path: Path, now: Callable[[], datetime]) -> tuple[Path, Lease, UpgradeReport]:
    work = asyncio.get_running_loop().run_in_executor(None, _lease_and_prepare, path, now)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_free_lease)
        raise


def _free_lease(work: asyncio.Future[tuple[Path, Lease, UpgradeReport]]) -> None:
    if not work.cancelled() and work.exception() is None:
        work.result()[1].release()


def _newest_seq(connection: sqlite3.Connection) -> int:
    (seq,) = connection.execute("SELECT max(seq) FROM events").fetchone()
    return seq or 0


def _touch(connection: sqlite3.Connection) -> None:
    """A change without meaning, which shows whether the disk takes one."""
    connection.execute(
        "INSERT INTO ledger_meta(key, value) VALUES ('probe', '1') ON CONFLICT(key)"
        " DO UPDATE SET value = CASE value WHEN '1' THEN '2' ELSE '1' END"
    )


def _facts(connection: sqlite3.Connection) -> tuple[str, int]:
    (ledger_id,) = connection.execute(
        "SELECT value FROM ledger_meta WHERE key = 'ledger_id'"
    ).fetchone()
    return ledger_id, _newest_seq(connection)
