"""The one writer: a thread with its own connection that commits waiting work together.

`submit` hands a *step*, a function of the connection, to the thread. The thread takes all steps
that wait and commits them with one sync to disk (`batch.py`). A step is answered only after its
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
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from groupx_server.ledger import connection as connections
from groupx_server.ledger.batch import BATCH_MAX, Batch, Job, Outcome, Step, closed_error
from groupx_server.ledger.connection import ledger_error
from groupx_server.ledger.health import Health
from groupx_server.ledger.presence import Presence
from groupx_server.ledger.upkeep import Upkeep
from groupx_shared.errors import LedgerError

T = TypeVar("T")

QUEUE_MAX: Final = 4096
"""Steps that may wait; above it `submit` itself waits."""

CLOSE_TIMEOUT_S: Final = 30.0
"""Bound on finishing the queue at close; then the step that runs is interrupted."""

INTERRUPT_TIMEOUT_S: Final = 5.0
"""Bound on a step's end after it was interrupted."""


class Writer:
    """Open with `await Writer.open(…)`; `aclose` finishes what was submitted.

    `on_commit(committed)` is called in the loop after each batch that was committed, before any
    of its steps is answered, with what `measure` read inside that transaction.
    """

    def __init__(
        self,
        path: Path,
        measure: Step[Any],
        on_commit: Callable[[Any], None],
        probe: Step[Any] | None = None,
    ) -> None:
        self.path = path
        self.health = Health()
        self._probe = probe
        self._measure = measure
        self._on_commit = on_commit
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._slots = asyncio.Semaphore(QUEUE_MAX)
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._ended = asyncio.Event()
        self._is_closing = False
        self._batch: Batch | None = None
        self._held: Job | None = None
        """Runs alone, next."""
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        measure: Step[Any],
        on_commit: Callable[[Any], None],
        probe: Step[Any] | None = None,
    ) -> Writer:
        """Start the thread and open its connection; the file must exist and be prepared.

        `probe` is a change without meaning, tried after a failed commit until one succeeds.

        Raises:
            LedgerError: it cannot be opened.
        """
        writer = cls(path, measure, on_commit, probe)
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
        return await self._submit(step, is_alone=False)

    async def submit_alone(self, step: Step[T]) -> T:
        """Run a step that brings its own transactions (VACUUM needs none around it), between two
        batches; what it leaves half done is its own business. Otherwise as `submit`."""
        return await self._submit(step, is_alone=True)

    async def _submit(self, step: Step[T], *, is_alone: bool) -> T:
        await self._slots.acquire()
        if self._is_closing:
            self._slots.release()
            raise closed_error()
        job = Job(step, self._loop.create_future(), is_alone=is_alone)
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
        if self._batch is not None:
            self._batch.is_abandoned = True
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed this very moment
                self._batch.connection.interrupt()
        try:
            async with asyncio.timeout(INTERRUPT_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError as error:
            raise LedgerError(
                f"A change to {self.path} does not end; it is lost when the program exits."
            ) from error

    # ── In the loop ───────────────────────────────────────────────────────────────────────────

    def _settle(self, jobs: Sequence[Job], outcome: Outcome) -> None:
        self.health.note("commit", outcome.failure)
        if outcome.committed is not None:
            self._on_commit(outcome.committed)
        for job in jobs:
            self._answer(job)

    def _answer(self, job: Job) -> None:
        self._slots.release()
        if job.future.done():  # its caller was cancelled
            return
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.result)

    def _settle_end(self, failure: BaseException | None) -> None:
        """Refuse what came after the end, or was left when the thread broke."""
        self._is_closing = True
        rest: list[Job] = []
        while not self._queue.empty():
            if (job := self._queue.get_nowait()) is not None:
                job.lose(closed_error(), failure)
                rest.append(job)
        for lost in rest:
            self._answer(lost)
        if not self._opened.done():
            self._opened.set_exception(failure or closed_error())
        self._ended.set()

    def _settle_opened(self) -> None:
        if not self._opened.done():
            self._opened.set_result(None)

    # ── In the thread ─────────────────────────────────────────────────────────────────────────

    def _tell(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    def _run(self) -> None:
        failure: Exception | None = None
        try:
            with contextlib.closing(connections.open_writer(self.path)) as connection:
                presence = Presence(self.path)
                self._batch = Batch(connection, self.path, self._measure, presence.require)
                tell = partial(self._tell, self.health.note)
                upkeep = Upkeep(connection, self.path, presence, tell, self._probe)
                self._tell(self._settle_opened)
                self._serve(self._batch, upkeep)
                upkeep.finish()
        except sqlite3.Error as error:
            failure = ledger_error(error, self.path)
            failure.__cause__ = error
        finally:
            self._tell(self._settle_end, failure)

    def _serve(self, batch: Batch, upkeep: Upkeep) -> None:
        while True:
            try:
                job = self._held or self._queue.get(timeout=upkeep.rest_s())
            except queue.Empty:
                upkeep.rest(batch)
                continue
            self._held = None
            if job is None:
                return
            jobs, is_last = ([job], False) if job.is_alone else self._gather(job)
            outcome = batch.run_alone(job) if job.is_alone else batch.run(jobs)
            upkeep.worked(outcome)
            self._tell(self._settle, jobs, outcome)
            if is_last:
                return

    def _gather(self, first: Job) -> tuple[list[Job], bool]:
        """Take what waits, up to a batch or a step that runs alone; say whether the end of the
        queue was among it."""
        jobs = [first]
        while len(jobs) < BATCH_MAX:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return jobs, True
            if job.is_alone:
                self._held = job
                break
            jobs.append(job)
        return jobs, False
