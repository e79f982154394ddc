"""The writer's thread: order, durability before the answer, back-pressure, closing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from groupx_server.ledger import upkeep as upkeep_module
from groupx_server.ledger import writer as writer_module
from groupx_server.ledger.connection import BUSY_TIMEOUT_MS
from groupx_server.ledger.failpoints import VARIABLE
from groupx_server.ledger.upkeep import Upkeep
from groupx_server.ledger.writer import Writer
from groupx_shared.errors import ErrorCode, LedgerError, RefusedError
from support.ledgers import names_in, opened

LIMIT_S = 5.0


def newest(connection: sqlite3.Connection) -> int:
    (value,) = connection.execute("SELECT coalesce(max(n), 0) FROM t").fetchone()
    return int(value)


def insert(number: int) -> Callable[[sqlite3.Connection], int]:
    def step(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?)", (number,))
        return number

    return step


def stored(path: Path) -> list[int]:
    with opened(path) as connection:
        return [number for (number,) in connection.execute("SELECT n FROM t ORDER BY rowid")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "t.db"
    with opened(path) as connection:
        connection.execute("CREATE TABLE t(n INTEGER UNIQUE)")
    return path


class Gate:
    """A step that holds the writer's thread until `open` is called."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._open = threading.Event()

    def __call__(self, _: sqlite3.Connection) -> str:
        self.entered.set()
        assert self._open.wait(LIMIT_S)
        return "passed"

    def open(self) -> None:
        self._open.set()

    async def wait_entered(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, LIMIT_S)


@pytest.fixture
def commits() -> list[int]:
    return []


@pytest.fixture
async def writer(path: Path, commits: list[int]) -> AsyncIterator[Writer]:
    writer = await Writer.open(path, measure=newest, on_commit=commits.append)
    yield writer
    await writer.aclose()


async def test_answered_step_is_on_disk(writer: Writer, path: Path) -> None:
    assert await writer.submit(insert(7)) == 7
    assert stored(path) == [7]


async def test_commit_is_told_before_its_steps_are_answered(
    writer: Writer, commits: list[int]
) -> None:
    await writer.submit(insert(3))
    assert commits == [3]
    with pytest.raises(RefusedError):
        await writer.submit(refuse)
    await writer.submit(insert(5))
    assert commits[-1] == 5


def refuse(_: sqlite3.Connection) -> None:
    raise RefusedError("no")


async def test_waiting_steps_share_one_commit_and_are_answered_in_order(
    writer: Writer, path: Path, commits: list[int]
) -> None:
    gate, answered = Gate(), list[int]()

    async def send(number: int) -> None:
        answered.append(await writer.submit(insert(number)))

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.submit(gate))
        await gate.wait_entered()
        for number in range(1, 101):
            tasks.create_task(send(number))
        await asyncio.sleep(0)
        gate.open()
    assert answered == list(range(1, 101))
    assert stored(path) == answered
    assert commits == [0, 100]


async def test_raising_step_is_told_to_its_own_caller_only(writer: Writer, path: Path) -> None:
    gate, outcomes = Gate(), dict[int, object]()

    async def send(number: int, step: Callable[[sqlite3.Connection], object]) -> None:
        try:
            outcomes[number] = await writer.submit(step)
        except RefusedError as error:
            outcomes[number] = error.message

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.submit(gate))
        await gate.wait_entered()
        for number in range(6):
            tasks.create_task(send(number, refuse if number % 2 else insert(number)))
        await asyncio.sleep(0)
        gate.open()
    assert outcomes == {0: 0, 1: "no", 2: 2, 3: "no", 4: 4, 5: "no"}
    assert stored(path) == [0, 2, 4]


async def test_cancelled_caller_breaks_nothing(writer: Writer, path: Path) -> None:
    gate = Gate()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        held = tasks.create_task(writer.submit(gate))
        await gate.wait_entered()
        waiting = tasks.create_task(writer.submit(insert(1)))
        later = tasks.create_task(writer.submit(insert(2)))
        await asyncio.sleep(0)
        held.cancel()
        waiting.cancel()
        gate.open()
    assert later.result() == 2
    assert stored(path) == [2]


async def test_full_queue_makes_callers_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "QUEUE_MAX", 3)
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    gate = Gate()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(writer.submit(gate))
        await gate.wait_entered()
        for number in range(10):
            tasks.create_task(writer.submit(insert(number)))
        await asyncio.sleep(0)
        assert writer._queue.qsize() == 2
        gate.open()
    assert stored(path) == list(range(10))
    await writer.aclose()


async def test_error_of_a_commit_is_told_and_forgotten_after_a_good_one(
    writer: Writer, path: Path
) -> None:
    def no_wait(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA busy_timeout=0").fetchall()

    await writer.submit(no_wait)
    with opened(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="Another program holds"):
            await writer.submit(insert(1))
        assert writer.health.problem is not None
        assert "Another program holds" in writer.health.problem
        other.rollback()
    assert await writer.submit(insert(1)) == 1
    assert writer.health.problem is None


async def test_full_disk_leaves_the_writer_usable(writer: Writer, path: Path) -> None:
    def limit(connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={count}").fetchall()

    def large(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(100, 5000)))

    def unlimit(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count=1000000").fetchall()

    await writer.submit(insert(1))
    await writer.submit(limit)
    with pytest.raises(LedgerError, match="disk is full"):
        await writer.submit(large)
    assert stored(path) == [1]
    await writer.submit(unlimit)
    await writer.submit(insert(2))
    assert stored(path) == [1, 2]


async def test_closing_finishes_what_was_submitted_and_leaves_one_file(path: Path) -> None:
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(writer.submit(insert(number)))
        await asyncio.sleep(0)
        await writer.aclose()
    assert stored(path) == list(range(50))
    assert names_in(path.parent) == {"t.db"}
    with pytest.raises(LedgerError) as refused:
        await writer.submit(insert(99))
    assert refused.value.code is ErrorCode.SHUTTING_DOWN
    await writer.aclose()


async def test_step_that_does_not_end_is_interrupted_at_close(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "CLOSE_TIMEOUT_S", 0.01)
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    entered = threading.Event()

    def endless(connection: sqlite3.Connection) -> None:
        entered.set()
        connection.execute(
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
        ).fetchall()

    async def send(step: Callable[[sqlite3.Connection], object]) -> str:
        try:
            await writer.submit(step)
        except LedgerError as error:
            return error.code
        return "done"

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        first = tasks.create_task(send(endless))
        assert await asyncio.to_thread(entered.wait, LIMIT_S)
        second = tasks.create_task(send(insert(1)))
        await asyncio.sleep(0)
        await writer.aclose()
    assert first.result() == ErrorCode.SHUTTING_DOWN
    assert second.result() == ErrorCode.SHUTTING_DOWN
    assert stored(path) == []


async def test_missing_file_is_not_made_by_the_writer(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be opened"):
        await Writer.open(tmp_path / "no.db", measure=newest, on_commit=lambda _: None)
    assert names_in(tmp_path) == set()


@pytest.fixture
def checkpoints(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Makes a writer tidy up as soon as it is idle; released once after each time."""
    finished = threading.Semaphore(0)
    checkpoint = Upkeep._checkpoint

    def watched(self: Upkeep, how: str = "TRUNCATE") -> None:
        checkpoint(self, how)
        finished.release()

    monkeypatch.setattr(upkeep_module, "IDLE_CHECKPOINT_S", 0.0)
    monkeypatch.setattr(Upkeep, "_checkpoint", watched)
    return finished


async def test_quiet_writer_writes_the_wal_over_and_goes_on(
    checkpoints: threading.Semaphore, path: Path
) -> None:
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    wal = path.with_name("t.db-wal")
    sizes = set()
    for number in range(3):
        assert await asyncio.to_thread(checkpoints.acquire, timeout=LIMIT_S)
        await writer.submit(insert(number))
        sizes.add(wal.stat().st_size)
    assert len(sizes) == 1
    await writer.aclose()
    assert stored(path) == [0, 1, 2]


async def test_quiet_writer_cuts_a_large_wal_and_goes_on(
    checkpoints: threading.Semaphore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep_module, "WAL_KEPT_BYTES", 0)
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    wal = path.with_name("t.db-wal")
    for number in range(3):
        assert await asyncio.to_thread(checkpoints.acquire, timeout=LIMIT_S)
        assert wal.stat().st_size == 0
        await writer.submit(insert(number))
    await writer.aclose()
    assert stored(path) == [0, 1, 2]


async def test_reader_that_holds_a_snapshot_does_not_stall_the_writer(
    checkpoints: threading.Semaphore, path: Path
) -> None:
    stall_s = BUSY_TIMEOUT_MS / 1000
    writer = await Writer.open(path, measure=newest, on_commit=lambda _: None)
    assert await asyncio.to_thread(checkpoints.acquire, timeout=stall_s / 2)
    with opened(path) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
        await writer.submit(insert(1))
        assert await asyncio.to_thread(checkpoints.acquire, timeout=stall_s / 2)
        await writer.submit(insert(2))
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    await writer.aclose()
    assert stored(path) == [1, 2]


async def test_connection_syncs_each_commit_and_checks_references(writer: Writer) -> None:
    def pragmas(connection: sqlite3.Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "temp_store", "mmap_size")
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    assert await writer.submit(pragmas) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "temp_store": 2,
        "mmap_size": 0,
    }


KILLED = """
import asyncio, sys
from pathlib import Path
from groupx_server.ledger.store import Ledger

def add(name):
    def step(connection):
        connection.execute("INSERT INTO ledger_meta VALUES (?, 'x')", (name,))
        return name
    return step

async def main():
    ledger = await Ledger.open(Path(sys.argv[1]))
    print(await ledger.write(add("one")), flush=True)
    print(await ledger.write(add("two")), flush=True)

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("point", "answered", "kept"),
    [
        ("writer.before_commit:2", "one\n", {"one"}),
        ("writer.after_commit:2", "one\n", {"one", "two"}),
    ],
)
def test_kill_around_a_commit_keeps_what_was_answered(
    tmp_path: Path, point: str, answered: str, kept: set[str]
) -> None:
    path = tmp_path / "groupx.db"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        env={**os.environ, VARIABLE: point},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert done.stdout == answered
    with opened(path) as connection:
        found = connection.execute("SELECT key FROM ledger_meta WHERE value = 'x'").fetchall()
    assert {key for (key,) in found} == kept
