"""Removing texts for good as a use case: the ledger first, then what is kept beside it.

Only people do this. What was answered is on disk; a purge that fails afterwards says so, and may
be asked for again. The texts themselves are held only as long as the command runs.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from groupx_server.ledger.accept import Source
from groupx_server.ledger.commands import once
from groupx_server.ledger.connection import find_backups
from groupx_server.ledger.purge import files_with, purge
from groupx_server.ledger.redaction import Kind, Target, redact
from groupx_server.ledger.revocations import (
    Removal,
    missing,
    note_removals,
    read_removals,
    remove_again,
    unlisted,
)
from groupx_server.ledger.store import Ledger
from groupx_server.logs import get_logger
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.wire.forgetting import RedactContent, RedactReply

BEYOND: Final = (
    (
        "Agents' own histories and logs: GroupX cannot reach them. “groupx context reset” lets "
        "them begin new sessions."
    ),
    "Exports, and backups that were made by command or copied elsewhere.",
)

log = get_logger(__name__)


async def _no_backups() -> list[str]:
    return []


@dataclass(slots=True)
class _Done:
    texts: Sequence[str] = field(default_factory=list)
    is_new: bool = False


class Forgetting:
    """Redaction over one ledger. `on_removed` drops what is cached of events, `renew_backups` puts
    a new backup in the place of the old ones."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.on_removed: Callable[[], None] = lambda: None
        self.renew_backups: Callable[[], Awaitable[list[str]]] = _no_backups

    async def redact(
        self, kind: Kind, ref_id: str, request: RedactContent, source: Source
    ) -> RedactReply:
        """Remove a text and what came of it. Raises: RefusedError, LedgerError."""
        target = Target(kind, ref_id, source.actor_id, source.source_kind, request.copies)
        done = _Done()
        now = self._runtime.clock.now()

        def step(connection: sqlite3.Connection) -> RedactReply:
            def act() -> dict[str, Any]:
                removed = redact(connection, target, now)
                done.texts, done.is_new = removed.texts, True
                reply = RedactReply(
                    audit_event_id=removed.audit_event_id,
                    event_ids=tuple(removed.event_ids),
                    record_ids=tuple(removed.record_ids),
                    summaries=removed.summaries,
                    days=removed.days,
                    elsewhere=tuple(removed.elsewhere),
                )
                return reply.model_dump(mode="json", by_alias=True)

            content = {"ref": ref_id, "purge": request.purge, "copies": request.copies}
            stored = once(
                connection,
                request.client_command_id,
                f"{kind}.redact",
                content,
                act,
                now,
                binding_id=source.binding_id,
            )
            return RedactReply.model_validate(stored)

        reply = await self._runtime.ledger.write(step)
        if done.is_new:
            await _list_removals(self._runtime.ledger)
            self.on_removed()
            log.info("content.redacted", kind=kind, ref=ref_id, events=len(reply.event_ids))
        if request.purge:
            reply = await self._purge(reply, done.texts)
        return reply.model_copy(update={"beyond": BEYOND})

    async def _purge(self, reply: RedactReply, texts: Sequence[str]) -> RedactReply:
        ledger = self._runtime.ledger
        await ledger.write_alone(purge)
        gone = await self.renew_backups()
        left = await asyncio.to_thread(files_with, texts, _files_of(ledger.path))
        return reply.model_copy(
            update={
                "purged": True,
                "removed_backups": tuple(gone),
                "left_in": tuple(file.name for file in left),
            }
        )


async def remove_restored(ledger: Ledger, now: str) -> int:
    """At a start: remove again what was removed for good and came back with an older copy of the
    ledger; return how many texts. Raises: LedgerError."""
    removals = await _list_removals(ledger)
    if not await ledger.read(partial(missing, removals=removals)):
        return 0
    count = await ledger.write(partial(remove_again, removals=removals, now=now))
    if count:
        log.warning("content.redacted_again", texts=count)
        await ledger.write_alone(purge)
    return count


async def _list_removals(ledger: Ledger) -> list[Removal]:
    """Write to the list what it lacks of this ledger; return what it held before."""
    removals = await asyncio.to_thread(read_removals, ledger.path)
    if lacking := await ledger.read(partial(unlisted, removals=removals)):
        await asyncio.to_thread(note_removals, ledger.path, lacking)
    return removals


def _files_of(path: Path) -> list[Path]:
    """The database, its journal, and every copy that GroupX made of it."""
    return [path, path.with_name(f"{path.name}-wal"), *find_backups(path)]
