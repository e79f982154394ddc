"""One transaction for many steps, committed together; what one of them raises harms no other.

Plain functions of a connection: no thread, no loop. Steps run one after the other; when one raises,
all of it is undone and they run again, each in a savepoint of its own. Savepoints cost a fifth of
what a message costs, and steps that raise are few. The invariant: after `run` every job has
either its result or an error, and what had a result is on disk; a step that raised left nothing,
and took its neighbours with it only where SQLite gave up the whole transaction. The counterpart
is `writer.py`, which brings the jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from groupx_server.ledger.connection import ledger_error
from groupx_server.ledger.failpoints import failpoint
from groupx_shared.errors import ErrorCode, GroupXError, LedgerDiskError, LedgerError

T = TypeVar("T")
Step = Callable[[sqlite3.Connection], T]
"""A unit of writing. It executes statements and returns; it must not begin or end a transaction,
and what it returns must not hold on to the connection (fetch the rows). It runs in the writer's
thread, and a second time when a step beside it raised: what it tells must be of its last run."""

BATCH_MAX: Final = 512
"""Steps of one commit. More gain nothing (the sync is shared already) and make the first wait."""


class Job:
    """A step, the future of its caller, and how it went: `error` set, or `result` valid."""

    __slots__ = ("error", "future", "is_alone", "result", "step")

    def __init__(
        self, step: Step[Any], future: asyncio.Future[Any], *, is_alone: bool = False
    ) -> None:
        self.step = step
        self.is_alone = is_alone
        """It brings its own transactions."""
        self.future = future
        self.result: Any = None
        self.error: BaseException | None = None

    def lose(self, error: Exception, cause: BaseException | None) -> None:
        """Answer with `error`, whatever the step returned."""
        error.__cause__ = cause
        self.error = error
        self.result = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a commit went."""

    committed: Any | None
    """What `measure` read inside the transaction; None when nothing was committed."""
    failure: str | None
    """The sentence when SQLite gave up a transaction of the batch."""


class Batch:
    """Runs batches on one connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        measure: Step[Any],
        require: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> None:
        """`require` is called before each transaction; it raises when nothing may be written."""
        self.connection = connection
        self.path = path
        self.is_abandoned = False
        """Set by another thread: steps that have not begun are refused."""
        self._measure = measure
        self._require = require

    def run(self, jobs: Sequence[Job]) -> Outcome:
        """Run and commit `jobs` in order; never raises."""
        failure: str | None = None
        try:
            self._require(self.connection)
            self.connection.execute("BEGIN IMMEDIATE")
            raising = self._run_together(jobs)
            if raising is not None:
                is_kept = self.connection.in_transaction
                _roll_back(self.connection)
                if len(jobs) == 1:
                    return Outcome(None, self._trouble_of(raising, is_kept=is_kept))
                self.connection.execute("BEGIN IMMEDIATE")
                failure = self._run_apart(jobs, raising)
            committed = self._measure(self.connection)
            failpoint("writer.before_commit")
            self.connection.execute("COMMIT")
            failpoint("writer.after_commit")
        except BaseException as error:  # noqa: BLE001 - border of the thread: callers get it
            _roll_back(self.connection)
            return Outcome(None, self._lose([job for job in jobs if job.error is None], error))
        return Outcome(committed, failure)

    def run_alone(self, job: Job) -> Outcome:
        """Run a step that brings its own transactions; never raises."""
        try:
            self._require(self.connection)
            job.result = job.step(self.connection)
            return Outcome(self._measure(self.connection), None)
        except BaseException as error:  # noqa: BLE001 - border of the thread: its caller gets it
            _roll_back(self.connection)
            return Outcome(None, self._lose([job], error))

    def attempt(self, step: Step[Any]) -> str | None:
        """Run and commit one step that nobody waits for; the sentence when that failed."""
        try:
            self._require(self.connection)
            self.connection.execute("BEGIN IMMEDIATE")
            step(self.connection)
            self.connection.execute("COMMIT")
        except (sqlite3.Error, LedgerError) as error:
            _roll_back(self.connection)
            return self._error_of(error).message
        return None

    def _run_together(self, jobs: Sequence[Job]) -> Job | None:
        """Run the steps one after the other; stop at the one that raises and return its job."""
        for job in jobs:
            if self._is_unwanted(job):
                job.lose(closed_error(), None)
                continue
            try:
                job.result = job.step(self.connection)
                if not self.connection.in_transaction:
                    raise sqlite3.OperationalError("a step ended the transaction")
            except BaseException as error:  # noqa: BLE001 - border of the thread: the caller gets it
                self._take_error(job, error)
                return job
        return None

    def _run_apart(self, jobs: Sequence[Job], raising: Job) -> str | None:
        """Run the steps again, each inside its own savepoint; the sentence when SQLite gave up the
        transaction, or the disk took one of them not."""
        done: list[Job] = []
        failure: str | None = None
        is_behind = False
        for job in jobs:
            job.error = None
            is_behind = is_behind or job is raising
            if self._run_step(job, is_due=not is_behind):
                done.append(job)
            elif self.connection.in_transaction:
                failure = self._trouble_of(job) or failure
            else:
                # SQLite gave up the whole transaction (disk full, I/O): the steps before
                # this one are undone too; those after it get a new one.
                failure = self._lose(done, job.error)
                done = []
                self.connection.execute("BEGIN IMMEDIATE")
        return failure

    def _trouble_of(self, job: Job, *, is_kept: bool = True) -> str | None:
        """The sentence of an error that says that something is wrong with the disk or the file."""
        if isinstance(job.error, LedgerDiskError) or not is_kept:
            return self._error_of(job.error).message
        return None

    def _is_unwanted(self, job: Job) -> bool:
        return self.is_abandoned or job.future.cancelled()

    def _run_step(self, job: Job, *, is_due: bool) -> bool:
        """Run one step inside its savepoint; False when it raised, and was undone. `is_due`: it
        was run before the batch was abandoned."""
        if self._is_unwanted(job) and not is_due:
            job.lose(closed_error(), None)
            return False
        try:
            self.connection.execute("SAVEPOINT step")
            try:
                job.result = job.step(self.connection)
            except BaseException:
                _undo_step(self.connection)
                raise
            self.connection.execute("RELEASE step")
        except BaseException as error:  # noqa: BLE001 - border of the thread: the caller gets it
            self._take_error(job, error)
        return job.error is None

    def _take_error(self, job: Job, error: BaseException) -> None:
        """Answer the caller of a step that raised."""
        if isinstance(error, sqlite3.Error):
            job.lose(ledger_error(error, self.path), error)
        elif isinstance(error, StopIteration):  # a future cannot carry it
            job.lose(RuntimeError("a ledger step raised StopIteration"), error)
        else:
            job.error, job.result = error, None

    def _lose(self, jobs: Sequence[Job], cause: BaseException | None) -> str:
        """Answer `jobs` with the error that undid their transaction; return its sentence."""
        for job in jobs:
            # Each caller gets an error of its own: raising one adds its traceback to it.
            job.lose(self._error_of(cause), cause)
        return self._error_of(cause).message

    def _error_of(self, cause: BaseException | None) -> GroupXError:
        if isinstance(cause, sqlite3.Error):
            return ledger_error(cause, self.path)
        if isinstance(cause, LedgerError):
            return type(cause)(cause.message, code=cause.code, details=cause.details)
        return LedgerError(f"The commit failed and nothing of it was stored: {cause!r}.")


def closed_error() -> LedgerError:
    """The answer to work that comes too late."""
    return LedgerError("The ledger is closed.", code=ErrorCode.SHUTTING_DOWN)


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
