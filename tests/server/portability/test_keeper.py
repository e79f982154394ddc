"""Automatic backups: when they are made, what is kept, and that their failure harms nobody."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from groupx_server.ledger.accept import AcceptMessage, accept_message
from groupx_server.ledger.copycheck import require_wanted
from groupx_server.ledger.examine import examine
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.store import Ledger
from groupx_server.portability import keeper as keeper_module
from groupx_server.portability.keeper import BackupKeeper
from groupx_server.portability.rotation import Policy, backup_path, list_backups
from groupx_shared.errors import LedgerError
from support.captured_logs import capture_logs
from support.ledgers import fixed_now, names_in
from support.transactions import LIMITS, NOW

LIMIT_S = 5.0
POLICY = Policy(3, timedelta(days=30))


class Clock:
    """Stands still until told; a sleeper waits for it."""

    def __init__(self) -> None:
        self.now = fixed_now()
        self.slept: list[float] = []
        self._moved = asyncio.Event()

    def __call__(self) -> datetime:
        return self.now

    def move(self, **span: float) -> None:
        self.now += timedelta(**span)
        self._moved.set()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + timedelta(seconds=seconds)
        while self.now < until:
            self._moved.clear()
            await self._moved.wait()


async def until(condition: Callable[[], bool]) -> None:
    """Let other tasks and threads work until `condition` holds."""
    async with asyncio.timeout(LIMIT_S):
        for _ in itertools.count():
            if condition():
                return
            await asyncio.sleep(0)


class Kept(NamedTuple):
    """A running keeper and what it works with."""

    ledger: Ledger
    clock: Clock
    logs: list[dict[str, object]]

    @property
    def folder(self) -> Path:
        return self.ledger.path.parent / "backups"

    async def say(self, content: str) -> None:
        command = AcceptMessage(content, "room:main", content, ())
        await self.ledger.write(lambda book: accept_message(book, command, LIMITS, NOW))

    async def logged(self, event: str, count: int = 1) -> None:
        """Let the keeper work until it logged so often."""
        await until(lambda: [entry["event"] for entry in self.logs].count(event) >= count)

    async def waits(self) -> None:
        """Let the keeper work until it waits for its time."""
        await until(lambda: bool(self.clock.slept))

    def made(self) -> int:
        return len(list_backups(self.ledger.path, self.folder))


@asynccontextmanager
async def kept(folder: Path, policy: Policy = POLICY) -> AsyncIterator[Kept]:
    clock = Clock()
    with capture_logs() as logs:
        async with await Ledger.open(folder / "groupx.db") as ledger, asyncio.TaskGroup() as tasks:
            keeper = BackupKeeper(ledger, policy, now=clock, sleep=clock.sleep)
            running = tasks.create_task(keeper.run())
            await asyncio.sleep(0)
            yield Kept(ledger, clock, logs)
            running.cancel()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with a ledger that exists already."""
    prepare(tmp_path / "groupx.db", now=fixed_now)
    return tmp_path


async def test_an_old_ledger_is_backed_up_at_the_first_write_after_the_start(old: Path) -> None:
    async with kept(old) as keeps:
        assert not keeps.folder.exists()
        await keeps.say("hello")
        await keeps.logged("backup.made")
        (backup,) = list_backups(keeps.ledger.path, keeps.folder)
        assert keeps.folder.stat().st_mode & 0o777 == 0o700
        assert backup.path.stat().st_mode & 0o777 == 0o600
        found = examine(backup.path)
        assert found.violations == []
        assert found.contents is not None
        assert found.contents.messages == 1


async def test_then_one_a_day_while_something_is_written(old: Path) -> None:
    async with kept(old) as keeps:
        await keeps.say("first day")
        await keeps.logged("backup.made")
        await keeps.say("still the first day")
        keeps.clock.move(hours=23)
        await asyncio.sleep(0)
        assert keeps.made() == 1
        keeps.clock.move(hours=1)
        await keeps.logged("backup.made", 2)
        keeps.clock.move(days=5)  # nothing was written
        await keeps.say("sixth day")
        await keeps.logged("backup.made", 3)
        assert keeps.made() == 3


async def test_a_new_ledger_gets_its_first_backup_after_an_hour_of_use(tmp_path: Path) -> None:
    async with kept(tmp_path) as keeps:
        await keeps.say("hello")
        await keeps.waits()
        keeps.clock.move(minutes=59)
        keeps.clock.move(minutes=1)
        await keeps.logged("backup.made")


async def test_a_start_the_day_after_with_a_fresh_backup_waits_for_its_day(old: Path) -> None:
    folder = old / "backups"
    folder.mkdir()
    backup_path(old / "groupx.db", folder, fixed_now() - timedelta(hours=20)).touch()
    async with kept(old) as keeps:
        await keeps.say("hello")
        await keeps.waits()
        assert keeps.made() == 1
        keeps.clock.move(hours=4)
        await keeps.logged("backup.made")
        assert keeps.made() == 2


async def test_a_backup_from_the_future_keeps_nobody_from_making_one(old: Path) -> None:
    folder = old / "backups"
    folder.mkdir()
    backup_path(old / "groupx.db", folder, fixed_now() + timedelta(days=900)).touch()
    async with kept(old) as keeps:
        await keeps.say("hello")
        await keeps.logged("backup.made")
        await keeps.say("more")
        await keeps.waits()
        assert keeps.made() == 2


async def test_only_as_many_as_the_policy_says_are_kept(old: Path) -> None:
    async with kept(old, Policy(2, timedelta(days=30))) as keeps:
        (old / "backups").mkdir()
        (old / "backups" / "mine.bak.db").write_text("somebody else's")
        (old / "backups" / ".groupx-20250101-000000.bak.db.0a.part").write_text("of a killed one")
        for day in range(1, 5):
            await keeps.say(f"day {day}")
            await keeps.logged("backup.made", day)
            keeps.clock.move(days=1)
        await keeps.logged("backup.removed", 2)
        assert keeps.made() == 2
        names = names_in(keeps.folder)
        assert "mine.bak.db" in names
        assert not [name for name in names if name.endswith(".part")]


async def test_a_disk_with_little_space_gets_no_backup_and_is_asked_again_after_an_hour(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    async with kept(old) as keeps:
        await keeps.say("hello")
        await keeps.logged("backup.failed")
        assert keeps.made() == 0
        assert keeps.ledger.is_healthy
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        await keeps.say("again")
        keeps.clock.move(hours=1)
        await keeps.logged("backup.made")


async def test_a_ledger_with_trouble_is_not_copied(old: Path) -> None:
    async with kept(old) as keeps:
        assert keeps.ledger._writer is not None
        keeps.ledger._writer.health.note("damage", "The file is damaged.")
        await keeps.say("hello")
        await keeps.logged("backup.failed")
        assert keeps.made() == 0


async def test_a_stop_in_the_middle_of_a_copy_ends_it_and_leaves_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()
    release: list[Callable[[], bool]] = []

    def slow(source: Path, target: Path, *, keep_going: Callable[[], bool]) -> None:
        release.append(keep_going)
        loop.call_soon_threadsafe(entered.set)
        while keep_going():
            pass
        require_wanted(keep_going)

    monkeypatch.setattr(keeper_module, "copy_online", slow)
    async with asyncio.timeout(LIMIT_S), kept(old) as keeps:
        await keeps.say("hello")
        await entered.wait()
    assert names_in(old / "backups") == set()
    with pytest.raises(LedgerError):
        require_wanted(release[0])


async def test_it_ends_when_the_ledger_closes(old: Path) -> None:
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        ledger = await Ledger.open(old / "groupx.db")
        running = tasks.create_task(BackupKeeper(ledger, POLICY).run())
        await asyncio.sleep(0)
        await ledger.aclose()
        await running
