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
from typing import Any, Final

from groupx_server.ledger.accept import Source
from groupx_server.ledger.commands import once
from groupx_server.ledger.copies import foresee
from groupx_server.ledger.redaction import Kind, Removed, Target, redact
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
from groupx_server.rooms.purging import Purging, purge
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import GroupXError
from groupx_shared.wire.forgetting import PurgeList, RedactContent, RedactReply, ToldSession

AGENTS_OWN: Final = "Agents' own histories and logs on this machine and at their providers."
COPIED: Final = (
    "Exports, and backups that were made by command or copied elsewhere: delete them, and make new "
    "ones."
)
SIDE: Final = (
    "What the room assistant says of it in other words: “groupx assistant clear” forgets its "
    "conversation."
)

log = get_logger(__name__)


async def _nothing() -> None:
    return None


@dataclass(slots=True)
class _Done:
    texts: Sequence[str] = field(default_factory=list)
    is_new: bool = False


class Forgetting:
    """Redaction over one ledger. `on_removed` drops what is cached of events, `on_side_removed`
    gives the room assistant a new session."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.on_removed: Callable[[], None] = lambda: None
        self.on_side_removed: Callable[[], Awaitable[None]] = _nothing
        self.purging = Purging(runtime)

    def purges(self) -> PurgeList:
        """How the purges that run stand, and the last that ended."""
        return PurgeList(purges=self.purging.known)

    async def redact(
        self, kind: Kind, ref_id: str, request: RedactContent, source: Source
    ) -> RedactReply:
        """Remove a text and what came of it. Raises: RefusedError, LedgerError."""
        if not request.purge:
            reply, _ = await self._remove(kind, ref_id, request, source)
            return reply.model_copy(update={"beyond": _beyond(reply)})
        self.purging.begin(kind, ref_id)
        try:
            reply, texts = await self._remove(kind, ref_id, request, source)
        except GroupXError as error:
            self.purging.fail(ref_id, error)
            raise
        purged = await self.purging.run(ref_id, texts)
        told = {
            "purged": True,
            "removed_backups": purged.removed_backups,
            "left_in": purged.left_in,
            "checked": purged.is_checked,
            "beyond": _beyond(reply),
        }
        return reply.model_copy(update=told)

    async def _remove(
        self, kind: Kind, ref_id: str, request: RedactContent, source: Source
    ) -> tuple[RedactReply, Sequence[str]]:
        """Put tombstones; return what was removed, and the texts, which are stored nowhere."""
        target = Target(kind, ref_id, source.actor_id, source.source_kind, request.copies)
        done = _Done()
        now = self._runtime.clock.now()
        foreseen = await self._runtime.ledger.read(partial(foresee, kind=kind, ref_id=ref_id))

        def step(connection: sqlite3.Connection) -> RedactReply:
            def act() -> dict[str, Any]:
                removed = redact(connection, target, now, foreseen)
                done.texts, done.is_new = removed.texts, True
                return _reply_of(removed).model_dump(mode="json", by_alias=True)

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
            if reply.side_messages:
                await self.on_side_removed()
            log.info("content.redacted", kind=kind, ref=ref_id, events=len(reply.event_ids))
        return reply, done.texts


async def remove_restored(ledger: Ledger, now: str) -> int:
    """At a start: remove again what was removed for good and came back with an older copy of the
    ledger; return how many texts. Raises: LedgerError."""
    removals = await _list_removals(ledger)
    if not await ledger.read(partial(missing, removals=removals)):
        return 0
    count = await ledger.write(partial(remove_again, removals=removals, now=now))
    if count:
        log.warning("content.redacted_again", texts=count)
        await purge(ledger, now)
    return count


async def _list_removals(ledger: Ledger) -> list[Removal]:
    """Write to the list what it lacks of this ledger; return what it held before."""
    removals = await asyncio.to_thread(read_removals, ledger.path)
    if lacking := await ledger.read(partial(unlisted, removals=removals)):
        await asyncio.to_thread(note_removals, ledger.path, lacking)
    return removals


def _reply_of(removed: Removed) -> RedactReply:
    told = [ToldSession(actor_id=each.actor_id, room_id=each.room_id) for each in removed.told]
    return RedactReply(
        audit_event_id=removed.audit_event_id,
        event_ids=tuple(removed.event_ids),
        record_ids=tuple(removed.record_ids),
        summaries=removed.summaries,
        days=removed.days,
        quote_event_ids=tuple(removed.quote_event_ids),
        side_messages=removed.side_messages,
        sessions=tuple(told),
        elsewhere=tuple(removed.elsewhere),
    )


def _beyond(reply: RedactReply) -> tuple[str, ...]:
    """What GroupX cannot reach, each with the way out."""
    rooms: dict[str, list[str]] = {}
    for told in reply.sessions:
        rooms.setdefault(told.room_id, []).append(told.actor_id.removeprefix("agent:"))
    sessions = [
        f"The sessions of {', '.join(names)} in {room_id} were told it: “groupx context reset "
        f"--room {room_id.removeprefix('room:')}” gives them new ones."
        for room_id, names in rooms.items()
    ]
    side = [SIDE] if reply.side_messages else []
    return (*sessions, *side, AGENTS_OWN, COPIED)
