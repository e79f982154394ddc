"""One transaction for many steps: what a raising step, or a failing commit, does to the others."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.ledger.batch import Batch, Job, Outcome
from groupx_shared.errors import ErrorCode, LedgerDiskError, LedgerError, RefusedError


def measure(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM t").fetchone()
    return int(count)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "t.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(v UNIQUE)")
        yield connection


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with closing(asyncio.new_event_loop()) as loop:
        yield loop


def batch_on(connection: sqlite3.Connection) -> Batch:
    return Batch(connection, Path("t.db"), measure)


def insert(value: object) -> Callable[[sqlite3.Connection], object]:
    def step(connection: sqlite3.Connection) -> object:
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        return value

    return step


def insert_and_raise(value: object, error: BaseException) -> Callable[[sqlite3.Connection], None]:
    def step(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        raise error

    return step


def stored(connection: sqlite3.Connection) -> list[object]:
    return [value for (value,) in connection.execute("SELECT v FROM t ORDER BY rowid")]


def test_steps_are_committed_together_in_order(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    jobs = [Job(insert(value), loop.create_future()) for value in "abc"]
    assert batch_on(connection).run(jobs) == Outcome(3, None)
    assert [job.result for job in jobs] == ["a", "b", "c"]
    assert stored(connection) == ["a", "b", "c"]
    assert not connection.in_transaction


@given(fates=st.lists(st.sampled_from(["good", "refused", "twice", "sql", "stop"]), max_size=12))
def test_step_that_raises_harms_no_neighbour(fates: list[str]) -> None:
    makers: dict[str, Callable[[int], Callable[[sqlite3.Connection], object]]] = {
        "good": insert,
        "refused": lambda n: insert_and_raise(n, RefusedError("no")),
        "twice": lambda n: lambda c: (insert(n)(c), insert(n)(c)),
        "sql": lambda n: lambda c: (insert(n)(c), c.execute("SELECT nonsense")),
        "stop": lambda n: insert_and_raise(n, StopIteration()),
    }
    errors = {"refused": RefusedError, "twice": LedgerError, "sql": LedgerError} | {
        "stop": RuntimeError
    }
    with (
        closing(asyncio.new_event_loop()) as loop,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as connection,
    ):
        connection.execute("CREATE TABLE t(v UNIQUE)")
        jobs = [Job(makers[f](n), loop.create_future()) for n, f in enumerate(fates)]
        good = [number for number, fate in enumerate(fates) if fate == "good"]
        is_empty = len(jobs) == 1 and not good  # there is nothing to commit
        told = Outcome(None if is_empty else len(good), None)
        assert batch_on(connection).run(jobs) == told
        assert stored(connection) == good
        for number, (job, fate) in enumerate(zip(jobs, fates, strict=True)):
            if fate == "good":
                assert (job.result, job.error) == (number, None)
            else:
                assert type(job.error) is errors[fate]
                assert job.result is None


def test_steps_run_once_and_without_savepoints_while_none_raises(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    batch_on(connection).run([Job(insert(value), loop.create_future()) for value in "ab"])
    assert [statement.split(" ")[0] for statement in statements] == [
        "BEGIN",
        "INSERT",
        "INSERT",
        "SELECT",
        "COMMIT",
    ]


def test_steps_beside_one_that_raised_run_again_and_tell_what_was_then(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    runs: list[str] = []

    def count(connection: sqlite3.Connection) -> object:
        runs.append("run")
        return insert(len(runs))(connection)

    jobs = [
        Job(step, loop.create_future()) for step in (count, insert_and_raise(0, RefusedError("no")))
    ]
    assert batch_on(connection).run(jobs) == Outcome(1, None)
    assert jobs[0].result == 2
    assert stored(connection) == [2]


def test_step_that_raised_alone_leaves_nothing(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    job = Job(insert_and_raise("a", RefusedError("no")), loop.create_future())
    assert batch_on(connection).run([job]) == Outcome(None, None)
    assert isinstance(job.error, RefusedError)
    assert stored(connection) == []
    assert not connection.in_transaction


def test_full_disk_is_told_when_a_step_met_it_alone(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    limit_pages(connection, 2)
    job = Job(insert("x" * 100_000), loop.create_future())
    outcome = batch_on(connection).run([job])
    assert outcome.failure is not None
    assert "disk is full" in outcome.failure
    assert isinstance(job.error, LedgerDiskError)


def test_what_ran_before_the_step_that_was_interrupted_is_stored(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    batch = batch_on(connection)

    def interrupted(_: sqlite3.Connection) -> None:
        batch.is_abandoned = True
        raise sqlite3.OperationalError("interrupted")

    jobs = [Job(step, loop.create_future()) for step in (insert("a"), interrupted, insert("b"))]
    assert batch.run(jobs).committed == 1
    assert stored(connection) == ["a"]
    assert [job.error is None for job in jobs] == [True, False, False]


def test_broken_constraint_is_a_store_conflict(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    jobs = [Job(insert("same"), loop.create_future()) for _ in range(2)]
    batch_on(connection).run(jobs)
    error = jobs[1].error
    assert isinstance(error, LedgerError)
    assert error.code is ErrorCode.STORE_CONFLICT
    assert isinstance(error.__cause__, sqlite3.IntegrityError)


def test_savepoint_inside_a_step_stays_its_own(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    def step(connection: sqlite3.Connection) -> None:
        insert("kept")(connection)
        connection.execute("SAVEPOINT inner_step")
        insert("dropped")(connection)
        connection.execute("ROLLBACK TO inner_step")

    jobs = [Job(step, loop.create_future()), Job(insert("next"), loop.create_future())]
    assert batch_on(connection).run(jobs).failure is None
    assert stored(connection) == ["kept", "next"]


def limit_pages(connection: sqlite3.Connection, more: int) -> None:
    (count,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={count + more}").fetchall()


def test_full_disk_fails_the_step_that_met_it_with_a_sentence(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    limit_pages(connection, 2)
    jobs = [
        Job(insert("before"), loop.create_future()),
        Job(insert("x" * 100_000), loop.create_future()),
        Job(insert("after"), loop.create_future()),
    ]
    batch_on(connection).run(jobs)
    error = jobs[1].error
    assert isinstance(error, LedgerError)
    assert "disk is full" in error.message
    assert stored(connection) == [job.result for job in jobs if job.error is None]
    assert jobs[2].result == "after"


def test_transaction_that_sqlite_gave_up_fails_the_steps_before_but_not_those_after(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    def give_up(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR ROLLBACK INTO t VALUES ('a')")

    insert("a")(connection)
    steps = [insert("b"), insert("c"), give_up, insert("d")]
    jobs = [Job(step, loop.create_future()) for step in steps]
    outcome = batch_on(connection).run(jobs)
    assert stored(connection) == ["a", "d"]
    assert [job.error is None for job in jobs] == [False, False, False, True]
    assert outcome.committed == 2
    assert outcome.failure is not None
    assert len({id(job.error) for job in jobs}) == 4


class FailingCommit(sqlite3.Connection):
    """Refuses COMMIT as a disk does that fills up with the last page."""

    def execute(self, sql: str, *arguments: object) -> sqlite3.Cursor:
        if sql == "COMMIT":
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        return super().execute(sql, *arguments)  # type: ignore[arg-type]


def test_failed_commit_fails_every_step_and_stores_nothing(
    tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path, isolation_level=None, factory=FailingCommit)) as connection:
        connection.execute("CREATE TABLE t(v UNIQUE)")
        jobs = [Job(insert(value), loop.create_future()) for value in "ab"]
        jobs.append(Job(insert_and_raise("c", RefusedError("own")), loop.create_future()))
        outcome = batch_on(connection).run(jobs)
        assert outcome.committed is None
        assert outcome.failure is not None
        assert "disk is full" in outcome.failure
        assert stored(connection) == []
        assert [type(job.error) for job in jobs] == [
            LedgerDiskError,
            LedgerDiskError,
            RefusedError,
        ]
        assert jobs[0].error is not jobs[1].error
        assert [job.result for job in jobs] == [None, None, None]
        assert not connection.in_transaction


def test_lock_of_another_program_fails_the_batch_and_the_next_one_works(
    connection: sqlite3.Connection, tmp_path: Path, loop: asyncio.AbstractEventLoop
) -> None:
    connection.execute("PRAGMA busy_timeout=0")
    batch = batch_on(connection)
    with closing(sqlite3.connect(tmp_path / "t.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        job = Job(insert("a"), loop.create_future())
        assert batch.run([job]).committed is None
        assert "Another program holds" in str(job.error)
        other.execute("ROLLBACK")
    assert batch.run([Job(insert("a"), loop.create_future())]) == Outcome(1, None)


def test_step_of_a_cancelled_caller_that_has_not_begun_is_left_out(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    jobs = [Job(insert(value), loop.create_future()) for value in "ab"]
    jobs[0].future.cancel()
    batch_on(connection).run(jobs)
    assert stored(connection) == ["b"]


def test_step_that_ends_the_transaction_is_told_so(
    connection: sqlite3.Connection, loop: asyncio.AbstractEventLoop
) -> None:
    job = Job(lambda c: c.execute("ROLLBACK") and None, loop.create_future())
    outcome = batch_on(connection).run([job, Job(insert("next"), loop.create_future())])
    assert isinstance(job.error, LedgerError)
    assert stored(connection) == ["next"]
    assert outcome.failure is not None
