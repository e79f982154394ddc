"""Getting the bytes of removed texts out of the files, one purge at a time; how each stands.

Invariant: a purge that began goes on though nobody waits for it any more, and what is told of it is
what was done, never what is hoped for. It is told live and kept in memory only: on disk is that the
text is removed. Counterparts: `forgetting`, which removes the text first, and `ledger.purge`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from groupx_server.ledger.bytesearch import files_with, probes_of, stands_in
from groupx_server.ledger.connection import file_error, find_backups
from groupx_server.ledger.fileheader import sidecar
from groupx_server.ledger.purge import MOST_STEPS, clean, is_overwritten, merge_some, rewrite
from groupx_server.ledger.rawfile import RawFile
from groupx_server.ledger.redaction import Kind
from groupx_server.ledger.searchindex import reset_outdated
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger
from groupx_server.rooms.live import Speaker, live_event
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import GroupXError
from groupx_shared.ids import MAIN_ROOM, SYSTEM, new_id
from groupx_shared.wire.events import EventType
from groupx_shared.wire.forgetting import PurgeBody, PurgeInfo, PurgeStage

LOG_FOLDER: Final = "logs"
"""Beside the database."""
TELL_EVERY: Final = 16
"""Steps of the index's merge, some 30 ms each: twice a second is enough to see that it moves."""
MAX_KNOWN: Final = 20
"""Purges that are told of; the oldest that have ended are forgotten first."""

Tell = Callable[[PurgeStage, int], None]
"""A stage, and how many steps of it are done."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Purged:
    """How a purge ended. `is_checked`: somebody knew what to look for in the files."""

    removed_backups: tuple[str, ...]
    left_in: tuple[str, ...]
    is_checked: bool


async def _no_backups() -> list[str]:
    return []


class Purging:
    """`renew_backups` puts a new backup in the place of the old ones."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.renew_backups: Callable[[], Awaitable[list[str]]] = _no_backups
        self._known: dict[str, PurgeInfo] = {}
        self._alone = asyncio.Lock()
        self._under_way: dict[str, asyncio.Future[Purged | None]] = {}
        self._proved: dict[str, None] = {}
        """What was looked for and found nowhere; a later purge of it cannot look again."""

    @property
    def known(self) -> tuple[PurgeInfo, ...]:
        """Those that run and the last that ended, the newest last."""
        return tuple(self._known.values())

    def begin(self, kind: Kind, ref_id: str) -> None:
        """Say that a text is about to be removed and its bytes with it."""
        if ref_id in self._under_way:
            return  # it is told of already
        self._known.pop(ref_id, None)
        self._tell(PurgeInfo(kind=kind, ref_id=ref_id, stage="removing", started_at=self._now()))
        ended = [each for each, info in self._known.items() if info.ended_at is not None]
        for ref in ended[: max(0, len(self._known) - MAX_KNOWN)]:
            del self._known[ref]

    def fail(self, ref_id: str, error: GroupXError) -> None:
        """It ends before its end."""
        if ref_id not in self._under_way:
            self._end(ref_id, stage="failed", error_message=error.message)

    async def run(self, ref_id: str, texts: Sequence[str]) -> Purged:
        """Get `texts` out of the files; wait instead, where that is being done for the same thing
        and nobody knows its text any more. Raises: LedgerError."""
        other = self._under_way.get(ref_id)
        if other is not None and not texts:
            found = await asyncio.shield(other)
            if found is not None:
                return found
        self._change(ref_id, removed=True)
        done: asyncio.Future[Purged | None] = asyncio.get_running_loop().create_future()
        self._under_way[ref_id] = done
        purged: Purged | None = None
        try:
            purged = await self._purge(ref_id, texts)
        except GroupXError as error:
            self._end(ref_id, stage="failed", error_message=error.message)
            raise
        finally:
            done.set_result(purged)
            if self._under_way.get(ref_id) is done:
                del self._under_way[ref_id]
        self._end(ref_id, stage="done", left_in=purged.left_in, checked=purged.is_checked)
        return purged

    async def _purge(self, ref_id: str, texts: Sequence[str]) -> Purged:
        ledger, tell = self._runtime.ledger, partial(self._stage, ref_id)
        if self._alone.locked():
            tell("waiting", 0)
        async with self._alone:
            await purge(ledger, self._now(), tell)
            tell("backups", 0)
            gone = await self.renew_backups()
            tell("checking", 0)
            probes = probes_of(texts)
            left = await asyncio.to_thread(_left_in, ledger, probes) if probes else []
        if probes and not left:
            self._proved[ref_id] = None
            for ref in list(self._proved)[:-MAX_KNOWN]:
                del self._proved[ref]
        is_checked = bool(probes) or ref_id in self._proved
        return Purged(tuple(gone), tuple(left), is_checked)

    def _stage(self, ref_id: str, stage: PurgeStage, steps: int) -> None:
        self._change(ref_id, stage=stage, steps=steps, ended_at=None)

    def _end(self, ref_id: str, **changes: object) -> None:
        self._change(ref_id, ended_at=self._now(), **changes)

    def _change(self, ref_id: str, **changes: object) -> None:
        if ref_id in self._known:
            self._tell(self._known[ref_id].model_copy(update=changes))

    def _tell(self, info: PurgeInfo) -> None:
        self._known[info.ref_id] = info
        body = PurgeBody(**info.model_dump()).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        speaker = Speaker(SYSTEM, "GroupX", MAIN_ROOM, new_id("corr"))
        data = live_event(speaker, EventType.CONTENT_PURGING, body, self._now())
        key = None if info.ended_at is not None else f"purge:{info.ref_id}"
        self._runtime.outlet.publish_transient(data, None, key)

    def _now(self) -> str:
        return self._runtime.clock.now()


def _untold(stage: PurgeStage, steps: int) -> None:
    """Nobody looks."""


async def purge(ledger: Ledger, now: str, tell: Tell = _untold) -> None:
    """Get the bytes of what was removed out of the database and its journal. Others write between
    the steps of the longest part. Raises: LedgerError."""
    await ledger.write(reset_outdated)
    is_first, steps = True, 0
    tell("index", 0)
    while not await ledger.write(partial(merge_some, is_first=is_first)) and steps < MOST_STEPS:
        is_first, steps = False, steps + 1
        if steps % TELL_EVERY == 0:
            tell("index", steps)
    if not await ledger.read(is_overwritten):
        log.info("purge.rewriting", file=ledger.path.name)
        tell("rewriting", 0)
        await ledger.write_alone(partial(rewrite, now=now))
    tell("wiping", 0)
    wiped = await ledger.write_alone(partial(_clean, file=ledger.raw))
    log.info("purge.done", merge_steps=steps, wiped_pages=wiped)


def _clean(connection: sqlite3.Connection, file: RawFile) -> int:
    try:
        return clean(connection, file)
    except OSError as error:
        raise file_error(error, file.path, "overwrite removed texts in") from error


def _left_in(ledger: Ledger, probes: Sequence[bytes]) -> list[str]:
    """Names of the files in which one of the texts stands: the database, its journal, every copy
    that GroupX made of it, and the logs."""
    path = ledger.path
    found = [path.name] if stands_in(probes, ledger.raw.pieces()) else []
    logs = sorted((path.parent / LOG_FOLDER).glob("*"))
    others = [sidecar(path, "-wal"), *find_backups(path), *logs]
    return found + [file.name for file in files_with(probes, others)]
