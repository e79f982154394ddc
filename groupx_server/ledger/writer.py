"""The one writer: a thread with its own connection that commits waiting work together.

`submit` hands a *step*, a function of the connection, to the thread. The thread takes all steps
that wait (up to 512), runs each inside its own savepoint, and commits them with one sync to disk:
a step that raises is undone alone, its neighbours live on. A step is answered only after its
commit, so what was answered survives a power cut. No timer gathers a batch: the commit that is
under way is the window.

The invariant: every step submitted is answered exactly once, in the order of submission, also
when the commit fails or the writer closes. Only this connection writes and checkpoints. The
counterpart is `readers.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from groupx_server.ledger import connection as connections
from groupx_server.ledger.connection import ledger_error
from groupx_server.ledger.failpoints import failpoint
from groupx_shared.errors import ErrorCode, GroupXError, LedgerError

T = TypeVar("T")
Step = Callable[[sqlite3.Connection], T]
"""A unit of writing. It executes statements and returns; it must not begin or end a transaction,
and what it returns must not hold on to the connection. It runs in the writer's thread."""

BATCH_MAX: Final = 512
"""Steps of one commit. More gain nothing (the sync is shared already) and make the first wait."""

QUEUE_MAX: Final = 4096
"""Steps that may wait; above it `submit` itself waits."""

IDLE_CHECKPOINT_S: Final = 5.0
"""Quiet time after which the WAL is moved into the database and cut to nothing."""

CLOSE_TIMEOUT_S: Final = 30.0
"""Bound on finishing the queue at close; then the step that runs is interrupted."""


ANALYSIS_ROWS: Final = 400
"""Rows per index that PRAGMA optimize looks at, so that closing a large ledger stays quick
(the value SQLite's documentation proposes)."""

INTERRUPT_TIMEOUT_S: Final = 5.0
"""Bound on a step's end after it was interrupted."""


class _Job:
    """A step, its future, and how it went: `error` set, or `result` valid."""

    __slots__ = ("error", "future", "result", "step")

    def __init__(self, step: Step[Any], future: asyncio.Future[Any]) -> None:
        self.step = step
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None


class Writer:
    """Open with `await Writer.open(…)`; `aclose` finishes what was submitted.

    `on_commit(position)` is called in the loop after each batch that was committed, before any
    of its steps is answered; `position` is what `measure` read inside that transaction.
    """

    def __init__(self, path: Path, measure: Step[int], on_commit: Callable[[int], None]) -> None:
        self.path = path
        self.last_error: str | None = None
        """The sentence of the last failed commit, None since the last good one."""
        self._measure = measure
        self._on_commit = on_commit
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._slots = asyncio.Semaphore(QUEUE_MAX)
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._ended = asyncio.Event()
        self._is_closing = False
        self._is_abandoned = False
        self._connection: sqlite3.Connection | None = None
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)

    @classmethod
    async def open(
        cls, path: Path, *, measure: Step[int], on_commit: Callable[[int], None]
    ) -> Writer:
        """Start the thread and open its connection; the file must exist and be prepared.

        Raises:
            LedgerError: it cannot be opened.
        """
        writer = cls(path, measure, on_commit)
        writer._thread.start()
        try:
            await writer._opened
        except BaseException:
            await writer.aclose()
            raise
        return writer

    async def submit(self, step: Step[T]) -> T:
        """Run `step` in a transaction and return what it returned, once that is on disk.

        Waits while more than `QUEUE_MAX` steps wait. When the caller is cancelled, the step may
        or may not have run; its neighbours are not touched.

        Raises:
            LedgerError: it was not stored: the disk is full, the file busy, the writer closed.
            Exception: what the step raised, after everything it wrote was undone. An error of
                SQLite is turned into a LedgerError, a broken constraint with STORE_CONFLICT.
        """
        await self._slots.acquire()
        if self._is_closing:
            self._slots.release()
            raise _closed()
        job = _Job(step, self._loop.create_future())
        self._queue.put(job)
        return await job.future  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        """Finish the steps already submitted, move the WAL into the database, close.

        After `CLOSE_TIMEOUT_S` the running step is interrupted, and those behind it are refused.

        Raises:
            LedgerError: a step does not end even then; its thread is left behind.
        """
        self._is_closing = True
        self._queue.put(None)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError:
            await self._abandon()
        self._thread.join(INTERRUPT_TIMEOUT_S)

    async def _abandon(self) -> None:
        self._is_abandoned = True
        if self._connection is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed this very moment
                self._connection.interrupt()
        try:
            async with asyncio.timeout(INTERRUPT_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError as error:
            raise LedgerError(
                f"A change to {self.path} does not end; it is lost when the program exits."
            ) from error

    # ── In the loop ───────────────────────────────────────────────────────────────────────────

    def _settle(self, batch: Sequence[_Job], position: int | None) -> None:
        if position is not None:
            self._on_commit(position)
        for job in batch:
            self._slots.release()
            if job.future.done():  # its caller was cancelled
                continue
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.result)

    def _settle_end(self) -> None:
        """Refuse what came after the end, or was left when the thread broke."""
        self._is_closing = True
        rest: list[_Job] = []
        while not self._queue.empty():
            if (job := self._queue.get_nowait()) is not None:
                job.error = _closed()
                rest.append(job)
        self._settle(rest, None)
        self._ended.set()

    def _settle_opened(self, error: BaseException | None) -> None:
        if self._opened.done():
            return
        if error is None:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(error)

    # ── In the thread ─────────────────────────────────────────────────────────────────────────

    def _tell(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    def _run(self) -> None:
        try:
            connection = connections.open_writer(self.path)
        except sqlite3.Error as error:
            self._tell(self._settle_opened, _with_cause(ledger_error(error, self.path), error))
            self._tell(self._settle_end)
            return
        self._connection = connection
        self._tell(self._settle_opened, None)
        try:
            self._serve(connection)
        finally:
            self._close(connection)
            self._tell(self._settle_end)

    def _serve(self, connection: sqlite3.Connection) -> None:
        has_wal = True  # from an earlier run, perhaps
        while True:
            try:
                job = self._queue.get(timeout=IDLE_CHECKPOINT_S if has_wal else None)
            except queue.Empty:
                self._checkpoint(connection)
                has_wal = False
                continue
            if job is None:
                return
            has_wal = True
            if not self._run_batch(connection, job):
                return

    def _run_batch(self, connection: sqlite3.Connection, first: _Job) -> bool:
        """Run what waits; False when the end of the queue was among it."""
        batch = [first]
        goes_on = True
        while len(batch) < BATCH_MAX:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                goes_on = False
                break
            batch.append(job)
        position = self._transact(connection, batch)
        self._tell(self._settle, batch, position)
        return goes_on

    def _transact(self, connection: sqlite3.Connection, batch: Sequence[_Job]) -> int | None:
        """Run and commit the batch; return the measured position, None when nothing was kept."""
        done: list[_Job] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                if self._run_step(connection, job):
                    done.append(job)
                elif not connection.in_transaction:
                    # SQLite gave up the whole transaction (disk full, I/O): the steps before
                    # this one are undone too; those after it get a new one.
                    self._lose(done, job.error)
                    done = []
                    connection.execute("BEGIN IMMEDIATE")
            position = self._measure(connection)
            failpoint("writer.before_commit")
            connection.execute("COMMIT")
            failpoint("writer.after_commit")
        except BaseException as error:  # noqa: BLE001 - border of the thread: callers get it
            _roll_back(connection)
            self._lose([job for job in batch if job.error is None], error)
            return None
        self.last_error = None
        return position

    def _run_step(self, connection: sqlite3.Connection, job: _Job) -> bool:
        """Run one step inside its savepoint; False when it raised (and was undone)."""
        if self._is_abandoned:
            job.error = _closed()
            return False
        try:
            connection.execute("SAVEPOINT step")
            try:
                job.result = job.step(connection)
            except BaseException:
                _undo_step(connection)
                raise
            connection.execute("RELEASE step")
        except sqlite3.Error as error:
            job.error = _with_cause(ledger_error(error, self.path), error)
        except StopIteration as error:  # a future cannot carry it
            job.error = _with_cause(RuntimeError("a ledger step raised StopIteration"), error)
        except BaseException as error:  # noqa: BLE001 - border of the thread: the caller gets it
            job.error = error
        return job.error is None

    def _lose(self, jobs: Sequence[_Job], cause: BaseException | None) -> None:
        """Answer `jobs` with the error that undid their transaction."""
        for job in jobs:
            found = _error_of_batch(cause, self.path)
            job.error = _with_cause(found, cause)
            job.result = None
            self.last_error = found.message

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move the WAL into the database and cut it, unless a reader still needs it.

        Never waits for readers: a new step would wait with us.
        """
        try:
            connection.execute("PRAGMA busy_timeout=0").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            self.last_error = ledger_error(error, self.path).message
        finally:
            connection.execute(f"PRAGMA busy_timeout={connections.BUSY_TIMEOUT_MS}").fetchall()

    def _close(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute(f"PRAGMA analysis_limit={ANALYSIS_ROWS}").fetchall()
            connection.execute("PRAGMA optimize").fetchall()
            self._checkpoint(connection)
        except sqlite3.Error as error:
            self.last_error = ledger_error(error, self.path).message
        finally:
            self._connection = None
            connection.close()


def _closed() -> LedgerError:
    return LedgerError("The ledger is closed.", code=ErrorCode.SHUTTING_DOWN)


def _error_of_batch(cause: BaseException | None, path: Path) -> GroupXError:
    """A fresh error for one caller; callers must not share one, each adds its traceback."""
    if isinstance(cause, sqlite3.Error):
        return ledger_error(cause, path)
    if isinstance(cause, LedgerError):
        return type(cause)(cause.message, code=cause.code, details=cause.details)
    return LedgerError(f"The commit failed and nothing of it was stored: {cause!r}.")


def _with_cause(error: Exception, cause: BaseException | None) -> Exception:
    error.__cause__ = cause
    return error


def _undo_step(connection: sqlite3.Connection) -> None:
    """Undo the step that raised; when that fails too, the whole transaction."""
    if not connection.in_transaction:
        return
    try:
        connection.execute("ROLLBACK TO step")
        connection.execute("RELEASE step")
    except sqlite3.Error:
        _roll_back(connection)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        # If even this fails the next BEGIN says so, to the callers of that batch.
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
