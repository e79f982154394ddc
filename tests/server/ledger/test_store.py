"""The ledger as one object: opening, waiting for changes, closing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from groupx_server.ledger import store, upkeep
from groupx_server.ledger.health import Health
from groupx_server.ledger.migrate import UpgradeReport, prepare
from groupx_server.ledger.store import Ledger
from groupx_shared.errors import (
    ErrorCode,
    LedgerBusyError,
    LedgerCorruptError,
    LedgerDiskError,
    LedgerError,
    LedgerTooNewError,
)
from support.ledgers import NEWEST, contents, fixed_now, names_in, old_file, opened

LIMIT_S = 5.0


def append(event_id: str) -> Callable[[sqlite3.Connection], int]:
    def step(connection: sqlite3.Connection) -> int:
        cursor = connection.execute(
            "INSERT INTO events(event_id, schema_version, room_id, event_type, actor_id,"
            " actor_kind, actor_display_name, targets_json, correlation_id, occurred_at, body_json)"
            " VALUES (?, 'groupx.event/0.1', 'room:main', 'message.created', 'user:web', 'user',"
            " 'You', '[]', 'corr_1', '2026-01-31T09:15:00.000Z', '{}')",
            (event_id,),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    return step


def forget_partials(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM turn_partials")


def count(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("SELECT count(*) FROM events").fetchone()
    return int(number)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    async with await Ledger.open(tmp_path / "data" / "groupx.db", now=fixed_now) as ledger:
        yield ledger


async def test_new_ledger_is_private_and_says_that_it_is_new(ledger: Ledger) -> None:
    await ledger.write(append("evt_1"))
    assert ledger.upgrade == UpgradeReport(0, NEWEST, None)
    assert len(ledger.ledger_id) == 32
    folder = ledger.path.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {name: (folder / name).stat().st_mode & 0o777 for name in names_in(folder)} == {
        "groupx.db": 0o600,
        "groupx.db-wal": 0o600,
        "groupx.db-shm": 0o600,
        "groupx.db.lock": 0o600,
    }


async def test_reopened_ledger_keeps_its_rows_its_id_and_its_position(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    async with await Ledger.open(path) as ledger:
        await ledger.write(append("evt_1"))
        ledger_id = ledger.ledger_id
    assert names_in(tmp_path) == {"groupx.db", "groupx.db.lock"}
    async with await Ledger.open(path) as ledger:
        assert ledger.upgrade == UpgradeReport(NEWEST, NEWEST, None)
        assert ledger.ledger_id == ledger_id
        assert ledger.last_seq == 1
        assert await ledger.read(count) == 1


async def test_old_ledger_is_upgraded_and_says_where_its_copy_is(tmp_path: Path) -> None:
    async with await Ledger.open(old_file(tmp_path, 9), now=fixed_now) as ledger:
        backup = tmp_path / "groupx.v9-20260131-091500.bak.db"
        assert ledger.upgrade == UpgradeReport(9, NEWEST, backup)
        assert ledger.last_seq == 13
        assert await ledger.write(append("evt_new")) == 14
        assert ledger.last_seq == 14


async def test_position_moves_before_the_answer(ledger: Ledger) -> None:
    assert ledger.last_seq == 0
    for number in range(1, 10):
        assert await ledger.write(append(f"evt_{number}")) == number
        assert ledger.last_seq == number
    await ledger.write(lambda connection: None)
    assert ledger.last_seq == 9


async def test_undone_event_does_not_move_the_position(ledger: Ledger) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        append("evt_1")(connection)
        raise LedgerError("no")

    with pytest.raises(LedgerError):
        await ledger.write(fail)
    assert ledger.last_seq == 0


async def test_change_wakes_all_who_wait_and_none_is_lost(ledger: Ledger) -> None:
    seen: dict[int, list[int]] = {number: [] for number in range(20)}

    async def follow(number: int) -> None:
        cursor = 0
        while cursor < 30:
            cursor = await ledger.changed(cursor)
            seen[number].append(cursor)

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        for number in seen:
            tasks.create_task(follow(number))
        for number in range(30):
            await ledger.write(append(f"evt_{number}"))
    for positions in seen.values():
        assert positions == sorted(set(positions))
        assert positions[-1] == 30


async def test_past_change_is_answered_at_once(ledger: Ledger) -> None:
    await ledger.write(append("evt_1"))
    assert await ledger.changed(0) == 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await ledger.changed(1)


async def test_commit_without_an_event_wakes_nobody(ledger: Ledger) -> None:
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(ledger.changed(0))
        await ledger.write(forget_partials)
        assert not waiting.done()
        await ledger.write(append("evt_1"))
    assert waiting.result() == 1


async def test_closing_ends_the_waiting(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "groupx.db")

    async def code_of_wait() -> str:
        try:
            await ledger.changed(0)
        except LedgerError as error:
            return error.code
        return "changed"

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(code_of_wait())
        await asyncio.sleep(0)
        await ledger.aclose()
    assert waiting.result() == ErrorCode.SHUTTING_DOWN


async def test_closed_ledger_refuses_work_and_is_not_healthy(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "groupx.db")
    health = [ledger.is_healthy]
    await ledger.aclose()
    await ledger.aclose()
    health.append(ledger.is_healthy)
    assert health == [True, False]
    for work in (ledger.write(count), ledger.read(count), ledger.changed(0)):
        with pytest.raises(LedgerError) as refused:
            await work
        assert refused.value.code is ErrorCode.SHUTTING_DOWN


async def test_second_open_is_refused_by_any_name_of_the_file(
    ledger: Ledger, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(ledger.path)
    for name in (ledger.path, link, tmp_path / "data" / ".." / "data" / "groupx.db"):
        with pytest.raises(LedgerBusyError, match=f"process {os.getpid()} "):
            await Ledger.open(name)
    assert await ledger.read(count) == 0


async def test_refused_file_frees_the_lease(tmp_path: Path) -> None:
    path = tmp_path / "groupx.db"
    prepare(path, now=fixed_now)
    with opened(path) as connection:
        connection.execute(f"PRAGMA user_version={NEWEST + 1}")
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(LedgerTooNewError):
            await Ledger.open(path)
    assert path.read_bytes() == before
    assert set(contents(tmp_path)) == {"groupx.db", "groupx.db.lock"}


async def test_failed_commit_is_told_by_health_until_a_good_one(ledger: Ledger) -> None:
    await ledger.write(lambda connection: connection.execute("PRAGMA busy_timeout=0") and None)
    with opened(ledger.path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusyError):
            await ledger.write(append("evt_1"))
        assert not ledger.is_healthy
        assert "Another program holds" in (ledger.problem or "")
        other.rollback()
    await ledger.write(append("evt_1"))
    assert ledger.is_healthy


async def test_a_full_disk_is_told_and_the_ledger_finds_out_by_itself_that_it_has_space(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    recovered = asyncio.Event()
    monkeypatch.setattr(upkeep, "PROBE_S", 0.01)

    def tell(_: Health, __: str | None, now: str | None) -> None:
        if now is None:
            recovered.set()

    monkeypatch.setattr(Health, "_tell", tell)

    def fix_the_size(connection: sqlite3.Connection) -> None:
        # The smallest limit: SQLite takes the present size, since that is larger.
        connection.execute("PRAGMA max_page_count=1").fetchall()

    def fill(connection: sqlite3.Connection) -> None:
        for number in range(100):
            append(f"evt_{number}")(connection)
            connection.execute("UPDATE events SET body_json = hex(zeroblob(4000))")

    await ledger.write(fix_the_size)
    with pytest.raises(LedgerDiskError, match="The disk is full"):
        await ledger.write(fill)
    assert "The disk is full" in (ledger.problem or "")
    assert await ledger.read(count) == 0
    async with asyncio.timeout(LIMIT_S):
        await recovered.wait()  # the probe needs no new page
    assert ledger.problem is None


async def test_damage_that_a_read_meets_is_told_for_good(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: sqlite3.Connection) -> None:
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorname = "SQLITE_CORRUPT"
        raise error

    for use in (ledger.read, ledger.write):
        with pytest.raises(LedgerCorruptError):
            await use(broken)
    assert await ledger.read(count) == 0
    assert "is damaged" in (ledger.problem or "")


async def test_a_disk_that_cannot_be_read_is_told_until_it_can(ledger: Ledger) -> None:
    def broken(_: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_READ"
        raise error

    with pytest.raises(LedgerDiskError):
        await ledger.read(broken)
    assert "The disk failed" in (ledger.problem or "")
    await ledger.read(count)
    assert ledger.problem is None


async def test_backup_while_in_use_can_be_opened(ledger: Ledger, tmp_path: Path) -> None:
    await ledger.write(append("evt_1"))
    await ledger.backup(tmp_path / "copy.db")
    await ledger.write(append("evt_2"))
    async with await Ledger.open(tmp_path / "copy.db") as copy:
        assert copy.last_seq == 1
        assert copy.ledger_id == ledger.ledger_id


async def test_cancelled_open_frees_the_lease_when_the_upgrade_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "groupx.db"
    entered, gate = threading.Event(), threading.Event()

    def slow(*arguments: object, **named: object) -> UpgradeReport:
        entered.set()
        assert gate.wait(LIMIT_S)
        return prepare(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "prepare", slow)
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        opening = tasks.create_task(Ledger.open(path))
        assert await asyncio.to_thread(entered.wait, LIMIT_S)
        opening.cancel()
        await asyncio.sleep(0)
        with pytest.raises(LedgerBusyError):
            await Ledger.open(path)
        gate.set()
    monkeypatch.undo()
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                ledger = await Ledger.open(path)
            except LedgerBusyError:
                continue
            break
    await ledger.aclose()
    assert ledger.upgrade.to_version == NEWEST


async def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="file, not a folder"):
        await Ledger.open(tmp_path / "file" / "deep" / "groupx.db")
    with pytest.raises(LedgerError, match=r"Cannot make the"):
        await Ledger.open(Path("/proc/groupx/groupx.db"))
