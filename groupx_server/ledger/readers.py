"""The readers: a few threads, each with a read-only connection.

`read` runs a whole unit of reading, a function of the connection, in one hop to a thread and in
one read transaction, so all its statements see the same moment of the ledger. The connections
can neither write nor checkpoint, and keep their prepared statements. The counterpart is
`writer.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from groupx_server.ledger import connection as connections
from groupx_server.ledger.batch import closed_error
from groupx_server.ledger.connection import ledger_error
from groupx_shared.errors import LedgerError

T = TypeVar("T")
Query = Callable[[sqlite3.Connection], T]
"""A unit of reading. What it returns must not hold on to the connection (fetch the rows). It runs
in a reader's thread."""

POOL_SIZE: Final = 2
"""Threads: one long read (an export, a search) leaves another for the short ones."""

WAITING_MAX: Final = 1024
"""Reads that may wait; above it `read` itself waits."""

CLOSE_TIMEOUT_S: Final = 5.0
"""Bound on a query's end after it was interrupted."""


class _Job:
    __slots__ = ("future", "query")

    def __init__(self, query: Query[Any], future: asyncio.Future[Any]) -> None:
        self.query = query
        self.future = future


class Readers:
    """Open with `await Readers.open(…)`, while the writer has the file open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._slots = asyncio.Semaphore(WAITING_MAX)
        self._threads: list[threading.Thread] = []
        self._connections: list[sqlite3.Connection] = []
        self._ended: list[asyncio.Event] = []
        self._is_closing = False

    @classmethod
    async def open(cls, path: Path, *, size: int = POOL_SIZE) -> Readers:
        """Start the threads and open their connections.

        Raises:
            LedgerError: the file cannot be opened.
        """
        readers = cls(path)
        try:
            for number in range(size):
                await readers._start(number)
        except BaseException:
            await readers.aclose()
            raise
        return readers

    async def _start(self, number: int) -> None:
        opened: asyncio.Future[None] = self._loop.create_future()
        ended = asyncio.Event()
        thread = threading.Thread(
            target=self._run, args=(opened, ended), name=f"ledger-reader-{number}", daemon=True
        )
        self._threads.append(thread)
        self._ended.append(ended)
        thread.start()
        await opened

    async def read(self, query: Query[T]) -> T:
        """Run `query` on one snapshot of the ledger and return what it returned.

        Sees everything whose `submit` was answered before the call. A cancelled caller leaves
        the query running to its end, unheard.

        Raises:
            LedgerError: the ledger is closing, or the file cannot be read.
            Exception: what the query raised.
        """
        await self._slots.acquire()
        try:
            if self._is_closing:
                raise closed_error()
            job = _Job(query, self._loop.create_future())
            self._queue.put(job)
            return await job.future  # type: ignore[no-any-return]
        finally:
            self._slots.release()

    async def aclose(self) -> None:
        """Interrupt the queries that run, refuse those that wait, close the connections.

        Raises:
            LedgerError: a query does not end; its thread is left behind.
        """
        self._is_closing = True
        for _ in self._threads:
            self._queue.put(None)
        for connection in self._connections:
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed this very moment
                connection.interrupt()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                for ended in self._ended:
                    await ended.wait()
        except TimeoutError as error:
            raise LedgerError(f"A query on {self.path} does not end.") from error
        for thread in self._threads:
            thread.join(CLOSE_TIMEOUT_S)

    # ── In a thread ───────────────────────────────────────────────────────────────────────────

    def _run(self, opened: asyncio.Future[None], ended: asyncio.Event) -> None:
        try:
            connection = connections.open_reader(self.path)
        except sqlite3.Error as error:
            found = ledger_error(error, self.path)
            found.__cause__ = error
            self._tell(_answer, opened, None, found)
            self._tell(ended.set)
            return
        self._connections.append(connection)
        self._tell(_answer, opened, None, None)
        try:
            while (job := self._queue.get()) is not None:
                self._serve(connection, job)
        finally:
            self._connections.remove(connection)
            connection.close()
            self._tell(ended.set)

    def _serve(self, connection: sqlite3.Connection, job: _Job) -> None:
        if job.future.cancelled():
            return
        result: Any = None
        failure: BaseException | None = None
        try:
            result = self._query(connection, job)
        except sqlite3.Error as error:
            failure = ledger_error(error, self.path)
            failure.__cause__ = error
        except StopIteration as error:  # a future cannot carry it
            failure = RuntimeError("a ledger query raised StopIteration")
            failure.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - border of the thread: the caller gets it
            failure = error
        self._tell(_answer, job.future, result, failure)

    def _query(self, connection: sqlite3.Connection, job: _Job) -> Any:
        if self._is_closing:
            raise closed_error()
        connection.execute("BEGIN")
        try:
            return job.query(connection)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")  # nothing was written; ends the snapshot

    def _tell(self, callback: Callable[..., Any], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more


def _answer(future: asyncio.Future[Any], result: Any, failure: BaseException | None) -> None:
    if future.done():  # its caller was cancelled
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(result)
