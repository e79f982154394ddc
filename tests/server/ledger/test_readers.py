"""The readers: one snapshot per unit of reading, no writing, closing in the middle of a query."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groupx_server.ledger import readers as readers_module
from groupx_server.ledger.readers import Readers
from groupx_server.ledger.writer import Writer
from groupx_shared.errors import ErrorCode, LedgerError, RefusedError
from support.ledgers import names_in, opened

LIMIT_S = 5.0


def count(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("SELECT count(*) FROM t").fetchone()
    return int(number)


def insert(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO t VALUES (1)")


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    path = tmp_path / "t.db"
    with opened(path) as connection:
        connection.execute("CREATE TABLE t(n)")
    writer = await Writer.open(path, measure=count, on_commit=lambda _: None)
    yield writer
    await writer.aclose()


@pytest.fixture
async def readers(writer: Writer) -> AsyncIterator[Readers]:
    readers = await Readers.open(writer.path)
    yield readers
    await readers.aclose()


async def test_answered_write_is_seen_by_the_next_read(writer: Writer, readers: Readers) -> None:
    for number in range(1, 20):
        await writer.submit(insert)
        assert await readers.read(count) == number


async def test_unit_of_reading_sees_one_moment(writer: Writer, readers: Readers) -> None:
    has_read, may_go_on = threading.Event(), threading.Event()

    def twice(connection: sqlite3.Connection) -> tuple[int, int]:
        first = count(connection)
        has_read.set()
        assert may_go_on.wait(LIMIT_S)
        return first, count(connection)

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(readers.read(twice))
        assert await asyncio.to_thread(has_read.wait, LIMIT_S)
        await writer.submit(insert)
        assert await readers.read(count) == 1  # the other connection is free, and sees it
        may_go_on.set()
    assert reading.result() == (0, 0)


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO t VALUES (1)", "PRAGMA user_version=9", "CREATE TABLE u(a)", "DELETE FROM t"],
)
async def test_reader_cannot_write(readers: Readers, statement: str) -> None:
    with pytest.raises(LedgerError, match="cannot be written"):
        await readers.read(lambda connection: connection.execute(statement).fetchall())
    assert await readers.read(count) == 0


async def test_error_of_a_query_reaches_its_caller_and_the_reader_goes_on(
    readers: Readers,
) -> None:
    def refuse(_: sqlite3.Connection) -> None:
        raise RefusedError("no")

    def stop(_: sqlite3.Connection) -> None:
        raise StopIteration

    with pytest.raises(RefusedError):
        await readers.read(refuse)
    with pytest.raises(LedgerError, match="no such column"):
        await readers.read(lambda connection: connection.execute("SELECT nonsense"))
    with pytest.raises(RuntimeError, match="StopIteration"):
        await readers.read(stop)
    assert await readers.read(count) == 0


async def test_many_reads_at_once_are_all_answered(readers: Readers) -> None:
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        reads = [tasks.create_task(readers.read(lambda _, n=n: n)) for n in range(200)]  # type: ignore[misc]
    assert [read.result() for read in reads] == list(range(200))


async def test_more_reads_than_may_wait_are_held_back(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers_module, "WAITING_MAX", 3)
    readers = await Readers.open(writer.path, size=1)
    gate = threading.Event()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(readers.read(lambda _: gate.wait(LIMIT_S)))
        others = [tasks.create_task(readers.read(count)) for _ in range(10)]
        await asyncio.sleep(0)
        assert readers._queue.qsize() <= 3
        gate.set()
    assert [other.result() for other in others] == [0] * 10
    await readers.aclose()


async def test_cancelled_caller_leaves_the_reader_usable(writer: Writer) -> None:
    readers = await Readers.open(writer.path, size=1)
    entered, gate = threading.Event(), threading.Event()

    def wait(_: sqlite3.Connection) -> None:
        entered.set()
        assert gate.wait(LIMIT_S)

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(readers.read(wait))
        assert await asyncio.to_thread(entered.wait, LIMIT_S)
        waiting = tasks.create_task(readers.read(count))
        await asyncio.sleep(0)
        running.cancel()
        waiting.cancel()
        gate.set()
    assert await readers.read(count) == 0
    await readers.aclose()


async def test_closing_interrupts_a_long_query_and_refuses_the_waiting(writer: Writer) -> None:
    readers = await Readers.open(writer.path, size=1)
    entered = threading.Event()

    def endless(connection: sqlite3.Connection) -> None:
        connection.create_function("entered", 0, entered.set)
        connection.execute(
            "WITH RECURSIVE r(n) AS (SELECT entered() UNION ALL SELECT 1 FROM r)"
            " SELECT count(*) FROM r"
        ).fetchall()

    async def code_of(query: object) -> str:
        try:
            await readers.read(query)  # type: ignore[arg-type]
        except LedgerError as error:
            return error.code
        return "answered"

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(code_of(endless))
        assert await asyncio.to_thread(entered.wait, LIMIT_S)
        waiting = tasks.create_task(code_of(count))
        await asyncio.sleep(0)
        await readers.aclose()
    assert running.result() == ErrorCode.SHUTTING_DOWN
    assert waiting.result() == ErrorCode.SHUTTING_DOWN
    assert await code_of(count) == ErrorCode.SHUTTING_DOWN
    await readers.aclose()


async def test_prepared_statements_are_kept_between_reads(readers: Readers) -> None:
    seen: list[str] = []

    def watched(connection: sqlite3.Connection) -> None:
        connection.set_authorizer(lambda *_: seen.append("prepared") or sqlite3.SQLITE_OK)  # type: ignore[func-returns-value]
        for _ in range(3):
            connection.execute("SELECT 12345").fetchall()
        connection.set_authorizer(None)

    await readers.read(watched)
    # The authorizer is asked when a statement is prepared, not when it runs.
    assert len(seen) == 1


async def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"no\.db cannot be opened"):
        await Readers.open(tmp_path / "no.db")
    assert names_in(tmp_path) == set()
