"""Summing a room up: the checkpoint rolls forward, by itself before a turn that needs it, or asked.

One compaction of a room at a time. A summary takes its place only when it is whole and by
compare-and-set; whatever fails before that changes nothing: no summary, no cursor, nobody's view.
Progress is told live and kept in memory only.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from groupx_server.context.checkpoint import Chunk, checkpoint_prompt, fault_of, input_budget
from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.context.packet import Packet
from groupx_server.ledger.readers import Query
from groupx_server.ledger.summaries import (
    NewSummary,
    Summary,
    active_summary,
    oldest_between,
    reset_floor,
    save_summary,
    seq_before_last,
)
from groupx_server.logs import get_logger
from groupx_server.rooms.live import Speaker, live_event
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.scribes import RETRYABLE, CannotWriteError, Scribes, Written
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ErrorCode, GroupXError, RefusedError
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.context import CompactionBody, CompactionInfo
from groupx_shared.wire.events import EventType

T = TypeVar("T")

KEEP_SHARE: Final = 0.5
"""Of the soft budget, kept as messages when a turn needs a compaction: the next turns need none."""
TURN_CHUNKS: Final = 4
"""One after the other before a turn. A room that is longer (one of an earlier version, say) is
summed up behind it, and the packet says how many messages it leaves out meanwhile."""
MAX_CHUNKS: Final = 64
"""One after the other behind turns; about seven million characters."""
MAX_ATTEMPTS: Final = 3
FIRST_PAUSE_S: Final = 0.3
BEFORE_S: Final = 120.0
"""For agents to write down their days before the room is summed up."""

_KINDS: Final = {
    "started": EventType.CONTEXT_COMPACTION_STARTED,
    "retrying": EventType.CONTEXT_COMPACTION_RETRYING,
    "completed": EventType.CONTEXT_COMPACTION_COMPLETED,
    "failed": EventType.CONTEXT_COMPACTION_FAILED,
}

Before = Callable[[str, int], Awaitable[None]]
"""Called before messages up to a seq are summed up."""

log = get_logger(__name__)


class CompactionError(GroupXError):
    """No agent wrote a summary that can be taken."""

    default_code = ErrorCode.CONTEXT_BUDGET_EXCEEDED


class NoScribeError(CompactionError):
    """No agent of this room writes summaries at all."""


@dataclass(slots=True)
class _Operation:
    """One compaction as it stands."""

    room_id: str
    info: CompactionInfo = field(
        default_factory=lambda: CompactionInfo(operation_id=new_id("op"), phase="started")
    )


class Compactor:
    """Prepares packets, and sums rooms up."""

    def __init__(self, runtime: Runtime, scribes: Scribes) -> None:
        self._runtime = runtime
        self._scribes = scribes
        self._locks: dict[str, asyncio.Lock] = {}
        self._newest: dict[str, CompactionInfo] = {}
        self._asked: dict[str, tuple[_Operation, int]] = {}
        self._has_asked = asyncio.Event()
        self._behind: set[str] = set()
        """Rooms that are being summed up behind their turns."""
        self.before: Before | None = None

    # --- for a turn -------------------------------------------------------------------------

    async def prepared(self, request: PacketRequest) -> Packet:
        """The packet of a turn, after summing up what it would leave out.

        Raises: GroupXError (CONTEXT_BUDGET_EXCEEDED). Where no agent writes summaries, and while a
        very long room is summed up behind its turns, the packet says how many messages it leaves
        out.
        """
        packet = await self._gather(request)
        if packet.omitted == 0 or request.room_id in self._behind:
            return packet
        operation = _Operation(request.room_id)
        async with self._lock(request.room_id):
            for _ in range(TURN_CHUNKS):
                packet = await self._gather(request)
                if packet.omitted == 0:
                    return packet
                try:
                    moved = await self._advance(operation, await self._cutoff(request))
                except NoScribeError:
                    return packet
                if not moved:
                    return packet
        packet = await self._gather(request)
        if packet.omitted:
            self._behind.add(request.room_id)
            self.start(request.room_id, new_id("op"), await self._cutoff(request))
        return packet

    async def _gather(self, request: PacketRequest) -> Packet:
        return await self._read(partial(gather_packet, request=request))

    async def _cutoff(self, request: PacketRequest) -> int:
        """Seq up to which the room is summed up for this turn."""
        small = replace(request, soft_share=request.soft_share * KEEP_SHARE)
        packet = await self._gather(small)
        oldest = packet.oldest_kept_seq
        return (packet.through_seq if oldest is None else oldest) - 1

    # --- asked for by a person --------------------------------------------------------------

    def newest(self, room_id: str) -> CompactionInfo | None:
        """How the room's latest compaction stands."""
        return self._newest.get(room_id)

    async def plan(self, room_id: str, keep: int) -> tuple[str, int] | None:
        """An operation that sums the room up but for its last `keep` messages, as its id and the
        seq it goes to; None when there is nothing to sum up. One that is under way is joined."""
        cutoff = await self._read(partial(seq_before_last, room_id=room_id, keep=keep))
        if await self._chunk(room_id, cutoff) is None:
            return None
        if room_id in self._asked:
            operation, cutoff = self._asked[room_id]
            return operation.info.operation_id, cutoff
        return new_id("op"), cutoff

    def start(self, room_id: str, operation_id: str, cutoff: int) -> None:
        """Do it soon."""
        if room_id in self._asked:
            return
        info = CompactionInfo(operation_id=operation_id, phase="started")
        self._asked[room_id] = (_Operation(room_id, info), cutoff)
        self._newest[room_id] = info
        self._has_asked.set()

    async def run(self) -> None:
        """Do what was asked for, until cancelled."""
        while True:
            await self._has_asked.wait()
            self._has_asked.clear()
            while self._asked:
                room_id, (operation, cutoff) = next(iter(self._asked.items()))
                try:
                    await self._compact(operation, cutoff)
                finally:
                    del self._asked[room_id]
                    self._behind.discard(room_id)

    async def _compact(self, operation: _Operation, cutoff: int) -> None:
        for _ in range(MAX_CHUNKS):
            try:
                async with self._lock(operation.room_id):
                    if not await self._advance(operation, cutoff):
                        return
            except GroupXError as error:  # it is told; the next thing asked for is done
                log.warning("compaction.failed", room=operation.room_id, error=error.message)
                return

    # --- one chunk --------------------------------------------------------------------------

    async def _advance(self, operation: _Operation, cutoff: int) -> bool:
        """Sum up the next chunk up to `cutoff`; False when there is none. Raises: GroupXError."""
        chunk = await self._chunk(operation.room_id, cutoff)
        if chunk is None:
            return False
        await self._call_before(operation.room_id, chunk.through_seq)
        self._tell(
            operation,
            phase="started",
            from_seq=chunk.from_seq,
            through_seq=chunk.through_seq,
            message_count=len(chunk.messages),
            max_attempts=MAX_ATTEMPTS,
        )
        try:
            written = await self._write(operation, chunk)
            summary = await self._save(chunk, written)
        except GroupXError as error:
            self._tell(
                operation, phase="failed", error_code=error.code, error_message=error.message
            )
            raise
        self._tell(
            operation,
            phase="completed",
            generator_actor_id=written.actor_id,
            summary_characters=len(summary.content),
            usage=written.usage,
        )
        return True

    async def _call_before(self, room_id: str, through_seq: int) -> None:
        """What goes wrong there waits; it must not keep a room from being summed up."""
        if self.before is None:
            return
        try:
            async with asyncio.timeout(BEFORE_S):
                await self.before(room_id, through_seq)
        except (GroupXError, TimeoutError) as error:
            log.warning("compaction.days_wait", room=room_id, error=str(error))

    async def _chunk(self, room_id: str, cutoff: int) -> Chunk | None:
        max_chars = self._runtime.limits.context_characters

        def query(connection: sqlite3.Connection) -> Chunk | None:
            previous = active_summary(connection, room_id)
            floor = reset_floor(connection, room_id)
            after = floor if previous is None else previous.through_seq
            budget = input_budget(max_chars, previous)
            messages = oldest_between(connection, room_id, after, cutoff, budget)
            return Chunk(room_id, previous, messages) if messages else None

        return await self._read(query)

    async def _write(self, operation: _Operation, chunk: Chunk) -> Written:
        """Ask one agent after the other; all of them again when it may have been a moment's
        trouble. Raises: CompactionError."""
        max_chars = self._runtime.limits.context_characters
        prompt = checkpoint_prompt(chunk, max_chars)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            faults, is_passing, is_able = await self._round(prompt, chunk, max_chars)
            if isinstance(faults, Written):
                return faults
            if not is_able:
                raise NoScribeError(f"No agent of this room writes summaries. {faults}".strip())
            if not is_passing or attempt == MAX_ATTEMPTS:
                break
            self._tell(operation, phase="retrying", attempt=attempt + 1)
            await asyncio.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
        raise CompactionError(
            f"The room's history is too long for one packet and could not be summed up: {faults} "
            "Nothing was changed and nothing was sent. Make an agent ready and retry the turn."
        )

    async def _round(
        self, prompt: str, chunk: Chunk, max_chars: int
    ) -> tuple[Written | str, bool, bool]:
        """One try of each agent: a text that can be taken, or what went wrong, whether that may
        pass by itself, and whether any of them writes such texts."""
        faults: list[str] = []
        is_passing = is_able = False
        for entry in self._scribes.by_health():
            try:
                written = await self._scribes.write(entry, prompt, "summary", chunk.room_id)
            except CannotWriteError:
                continue
            except AgentError as error:
                faults.append(f"{entry.display_name}: {safe_line(error.message, 200)}")
                is_passing = is_passing or error.code in RETRYABLE
                is_able = True
                continue
            is_able = True
            fault = fault_of(written.text, chunk, max_chars)
            if fault is None:
                return written, False, True
            faults.append(f"{entry.display_name}: its summary was refused, {fault}.")
        return " ".join(faults), is_passing, is_able

    async def _save(self, chunk: Chunk, written: Written) -> Summary:
        new = NewSummary(
            chunk.room_id,
            chunk.from_seq,
            chunk.through_seq,
            written.text,
            written.actor_id,
            None if chunk.previous is None else chunk.previous.summary_id,
        )
        try:
            step = partial(save_summary, new=new, now=self._runtime.clock.now())
            return await write_patiently(self._runtime.ledger, step)
        except RefusedError as error:
            raise CompactionError(error.message) from error

    # --- small things -----------------------------------------------------------------------

    def _tell(self, operation: _Operation, **changes: object) -> None:
        operation.info = operation.info.model_copy(update=changes)
        self._newest[operation.room_id] = operation.info
        speaker = Speaker(SYSTEM, "GroupX", operation.room_id, new_id("corr"))
        body = CompactionBody(room_id=operation.room_id, **operation.info.model_dump())
        wire = body.model_dump(mode="json", by_alias=True, exclude_none=True)
        kind = _KINDS[operation.info.phase]
        data = live_event(speaker, kind, wire, self._runtime.clock.now())
        self._runtime.outlet.publish_transient(data, operation.room_id)

    def _lock(self, room_id: str) -> asyncio.Lock:
        return self._locks.setdefault(room_id, asyncio.Lock())

    async def _read(self, query: Query[T]) -> T:
        return await read_patiently(self._runtime.ledger, query)
