"""Automatic backups: one a day while the ledger is in use, and a few of them kept.

A backup is due when something was written and the newest one is a day old; so a server that starts
with an old backup makes one at its first write, and a room in which nothing happens gets none. The
copy is made beside the writer from a snapshot of its own, so sends do not wait for it. What goes
wrong is logged and tried again later: a backup must never be the reason that a message is refused.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.connection import BACKUP_FOLDER, dated_backups, file_error
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.times import utc_now
from groupx_server.logs import get_logger
from groupx_server.portability.rotation import (
    Policy,
    backup_path,
    leftovers,
    list_backups,
    surplus,
)
from groupx_shared.errors import LedgerDiskError, LedgerError
from groupx_shared.paths import private_folder

EVERY: Final = timedelta(days=1)

FIRST_AFTER: Final = timedelta(hours=1)
"""From the first write of a new ledger to its first backup: before, there is little to keep."""

RETRY_AFTER: Final = timedelta(hours=1)

LOOK_EVERY: Final = timedelta(minutes=10)
"""A clock may jump and a machine may sleep: the time is looked at this often."""

SPARE_BYTES: Final = 64 * 1024 * 1024
"""Left free on the disk beside the copy: a backup must not fill it."""

STOP_WITHIN_S: Final = 5.0
"""For a copy that is given up: its thread ends at its next step."""

log = get_logger(__name__)


class BackupKeeper:
    """`run` lives as long as the server."""

    def __init__(
        self,
        ledger: Ledger,
        policy: Policy,
        *,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.folder: Path = ledger.path.parent / BACKUP_FOLDER
        self._ledger = ledger
        self._policy = policy
        self._now = now
        self._sleep = sleep
        self._failed_at: datetime | None = None
        self._busy = asyncio.Lock()

    async def renew(self) -> list[str]:
        """Put one backup of now in the place of all copies that there are, because something was
        removed for good; return the names of those that are gone. Without any, none is made.

        Raises: LedgerError (no space, cannot be written): the copies are still there.
        """
        async with self._busy:
            try:
                return await asyncio.to_thread(self._renew)
            except OSError as error:
                raise file_error(error, self.folder, "renew the backups in") from error

    async def run(self) -> None:
        """Back up whenever it is due, until cancelled or until the ledger closes."""
        seen = self._ledger.last_seq
        while True:
            try:
                await self._ledger.changed(seen)
            except LedgerError:
                return  # it closes
            await self._until(await self._due())
            seen = self._ledger.last_seq
            async with self._busy:
                await self._try()

    async def _due(self) -> datetime:
        if self._failed_at is not None:
            return self._failed_at + RETRY_AFTER
        newest = await asyncio.to_thread(self._newest)
        if newest is not None:
            return newest + EVERY
        is_new = self._ledger.upgrade.from_version == 0
        return self._now() + (FIRST_AFTER if is_new else timedelta())

    def _newest(self) -> datetime | None:
        """When the newest backup was made; one from the future says nothing (a clock was wrong)."""
        try:
            backups = list_backups(self._ledger.path, self.folder)
        except OSError:
            return None  # making one will say why
        now = self._now()
        return max((b.made_at for b in backups if b.made_at <= now), default=None)

    async def _until(self, due: datetime) -> None:
        while (left := due - self._now()) > timedelta():
            await self._sleep(min(left, LOOK_EVERY).total_seconds())

    async def _try(self) -> None:
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(None, self._back_up, lambda: not stop.is_set())
        try:
            await asyncio.shield(work)
            self._failed_at = None
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work], timeout=STOP_WITHIN_S)
            _forget(work)
            raise
        except (LedgerError, OSError) as error:
            self._failed_at = self._now()
            log.error("backup.failed", error=str(error))

    # ── In a thread ───────────────────────────────────────────────────────────────────────────

    def _back_up(self, keep_going: Callable[[], bool]) -> None:
        self._require_sound()
        private_folder(self.folder)
        for unfinished in leftovers(self._ledger.path, self.folder):
            unfinished.unlink(missing_ok=True)
        self._require_space()
        target = backup_path(self._ledger.path, self.folder, self._now())
        copy_online(self._ledger.path, target, keep_going=keep_going)
        log.info("backup.made", file=target.name, bytes=target.stat().st_size)
        for old in surplus(list_backups(self._ledger.path, self.folder), self._policy, self._now()):
            old.path.unlink(missing_ok=True)
            log.info("backup.removed", file=old.path.name)

    def _renew(self) -> list[str]:
        old = [copy for copy, _ in dated_backups(self._ledger.path)]
        old += leftovers(self._ledger.path, self.folder)
        if not old:
            return []
        self._require_sound()
        private_folder(self.folder)
        self._require_space()
        moment = self._now()
        while (target := backup_path(self._ledger.path, self.folder, moment)) in old:
            moment += timedelta(seconds=1)
        copy_online(self._ledger.path, target)
        for copy in old:
            copy.unlink(missing_ok=True)
            log.info("backup.removed", file=copy.name)
        return [copy.name for copy in old]

    def _require_sound(self) -> None:
        """A lost file must not be copied as the ledger, nor a good backup give way to a bad one."""
        if self._ledger.problem is not None:
            raise LedgerError(f"No backup is made now: {self._ledger.problem}")

    def _require_space(self) -> None:
        needed = self._ledger.path.stat().st_size + SPARE_BYTES
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise LedgerDiskError(
                f"No backup is made: it needs {needed // 1_000_000} MB on the disk of "
                f"{self.folder}, {free // 1_000_000} MB are free. Free some space, or keep fewer "
                "(storage.backups.keep)."
            )


def _forget(work: asyncio.Future[None]) -> None:
    """How a copy ended that was given up interests nobody; the loop would complain of silence."""
    if work.done() and not work.cancelled():
        work.exception()
