"""Summing a room up: the checkpoint rolls forward, by itself before a turn that needs it, or asked.

One compaction of a room at a time. A summary takes its place only when it is whole and by
compare-and-set; whatever fails before that changes nothing: no summary, no cursor, nobody's view.
After a failure turns do not ask agents again at once; a person's asking does. How it stands is the
business of `compactionlog`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from groupx_server.context.checkpoint import Chunk, checkpoint_prompt, fault_of, input_budget
from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.context.packet import Packet
from groupx_server.ledger.compactions import read_compaction
from groupx_server.ledger.messages import said_after
from groupx_server.ledger.readers import Query
from groupx_server.ledger.summaries import (
    NewSummary,
    active_summary,
    oldest_between,
    reset_floor,
    save_summary,
    seq_before_last,
)
from groupx_server.logs import get_logger
from groupx_server.rooms.compactionlog import CompactionLog, Operation
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.scribes import RETRYABLE, CannotWriteError, Scribes, Written
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ErrorCode, GroupXError, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.context import CompactionInfo

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

Before = Callable[[str, int], Awaitable[None]]
"""Called before messages up to a seq are summed up."""

log = get_logger(__name__)


class CompactionError(GroupXError):
    """No agent wrote a summary that can be taken."""

    default_code = ErrorCode.CONTEXT_BUDGET_EXCEEDED


class NoScribeError(CompactionError):
    """No agent of this room writes summaries at all."""


@dataclass(frozen=True, slots=True)
class _Next:
    """The next part of a room to be summed up, and about how many there are with it."""

    chunk: Chunk
    parts: int


class Compactor:
    """Prepares packets, and sums rooms up."""

    def __init__(self, runtime: Runtime, scribes: Scribes) -> None:
        self._runtime = runtime
        self._scribes = scribes
        self._log = CompactionLog(runtime)
        self._locks: dict[str, asyncio.Lock] = {}
        self._asked: dict[str, tuple[Operation, int]] = {}
        self._has_asked = asyncio.Event()
        self._behind: set[str] = set()
        """Rooms that are being summed up behind their turns."""
        self.before: Before | None = None

    # --- for a turn -------------------------------------------------------------------------

    async def prepared(self, request: PacketRequest, packet: Packet) -> Packet:
        """The packet of a turn, after summing up what `packet`, made as the room is, leaves out.

        Raises: GroupXError (CONTEXT_BUDGET_EXCEEDED). Where no agent writes summaries, and while a
        very long room is summed up behind its turns, the packet says how many messages it leaves
        out.
        """
        if packet.omitted == 0 or request.room_id in self._behind:
            return packet
        operation = Operation(request.room_id)
        async with self._lock(request.room_id):
            packet = await self._gather(request)
            if packet.omitted == 0:
                return packet
            if await self._is_pausing(request.room_id):
                return packet
            for _ in range(TURN_CHUNKS):
                try:
                    moved = await self._advance(operation, await self._cutoff(request))
                except NoScribeError:
                    return packet
                packet = await self._gather(request)
                if not moved or packet.omitted == 0:
                    await self._log.complete(operation)
                    return packet
            await self._log.complete(operation)
        self._behind.add(request.room_id)
        cutoff = await self._cutoff(request)
        self._start(Operation(request.room_id, "behind"), cutoff)
        return packet

    async def _is_pausing(self, room_id: str) -> bool:
        """Agents that just failed are not asked again for each turn: true when none of them writes
        summaries anyway. Raises: CompactionError when they could not."""
        kept = await self._read(partial(read_compaction, room_id=room_id))
        if kept is None or kept.next_attempt_at is None:
            return False
        if kept.next_attempt_at <= self._runtime.clock.now():
            return False
        if kept.info.has_no_writer:
            return True
        raise CompactionError(
            f"{kept.info.error_message} Agents are asked again from "
            f"{kept.next_attempt_at[11:19]} UTC on; “groupx context compact” asks them now."
        )

    async def _gather(self, request: PacketRequest) -> Packet:
        return await self._read(partial(gather_packet, request=request))

    async def _cutoff(self, request: PacketRequest) -> int:
        """Seq up to which the room is summed up for this turn."""
        small = replace(request, soft_share=request.soft_share * KEEP_SHARE)
        packet = await self._gather(small)
        oldest = packet.oldest_kept_seq
        return (packet.through_seq if oldest is None else oldest) - 1

    # --- asked for by a person --------------------------------------------------------------

    async def newest(self, room_id: str) -> CompactionInfo | None:
        """How the room's latest compaction stands, or ended, also before a restart."""
        if (known := self._log.newest(room_id)) is not None:
            return known
        kept = await self._read(partial(read_compaction, room_id=room_id))
        return None if kept is None else kept.info

    async def plan(self, room_id: str, keep: int) -> tuple[str, int] | None:
        """An operation that sums the room up but for its last `keep` messages, as its id and the
        seq it goes to; None when there is nothing to sum up. One that is under way is joined."""
        cutoff = await self._read(partial(seq_before_last, room_id=room_id, keep=keep))
        if await self._next(room_id, cutoff) is None:
            return None
        if room_id in self._asked:
            operation, cutoff = self._asked[room_id]
            return operation.operation_id, cutoff
        return new_id("op"), cutoff

    def start(self, room_id: str, operation_id: str, cutoff: int) -> None:
        """Do it soon, because a person asks for it."""
        self._start(Operation(room_id, "asked", operation_id), cutoff)

    def _start(self, operation: Operation, cutoff: int) -> None:
        if operation.room_id in self._asked:
            return
        self._asked[operation.room_id] = (operation, cutoff)
        self._log.expect(operation)
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

    async def _compact(self, operation: Operation, cutoff: int) -> None:
        try:
            for _ in range(MAX_CHUNKS):
                async with self._lock(operation.room_id):
                    if not await self._advance(operation, cutoff):
                        break
            await self._log.complete(operation)
        except GroupXError as error:  # it is told; the next thing asked for is done
            log.warning("compaction.failed", room=operation.room_id, error=error.message)

    # --- one chunk --------------------------------------------------------------------------

    async def _advance(self, operation: Operation, cutoff: int) -> bool:
        """Sum up the next chunk up to `cutoff`; False when there is none. Raises: GroupXError."""
        found = await self._next(operation.room_id, cutoff)
        if found is None:
            return False
        chunk = found.chunk
        await self._log.begin_part(operation, chunk, found.parts)
        try:
            await self._call_before(operation.room_id, chunk.through_seq)
            written = await self._write(operation, chunk)
            await self._save(operation, chunk, written)
        except GroupXError as error:
            await self._log.fail(operation, error, isinstance(error, NoScribeError))
            raise
        except asyncio.CancelledError:
            self._log.break_off(operation)
            raise
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

    async def _next(self, room_id: str, cutoff: int) -> _Next | None:
        max_chars = self._runtime.limits.context_characters

        def query(connection: sqlite3.Connection) -> _Next | None:
            previous = active_summary(connection, room_id)
            floor = reset_floor(connection, room_id)
            after = floor if previous is None else previous.through_seq
            budget = input_budget(max_chars, previous)
            messages = oldest_between(connection, room_id, after, cutoff, budget)
            if not messages:
                return None
            chunk = Chunk(room_id, previous, messages)
            after = max(chunk.through_seq, 0)
            left = said_after(connection, room_id, after).chars
            left -= said_after(connection, room_id, max(cutoff, after)).chars
            return _Next(chunk, 1 + -(-left // budget))

        return await self._read(query)

    async def _write(self, operation: Operation, chunk: Chunk) -> Written:
        """Ask one agent after the other; all of them again when it may have been a moment's
        trouble. Raises: CompactionError."""
        prompt = checkpoint_prompt(chunk, self._runtime.limits.context_characters)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            faults, is_passing, is_able = await self._round(operation, prompt, chunk)
            if isinstance(faults, Written):
                return faults
            if not is_able:
                raise NoScribeError(f"No agent of this room writes summaries. {faults}".strip())
            if not is_passing or attempt == MAX_ATTEMPTS:
                break
            self._log.tries_again(operation, attempt + 1, MAX_ATTEMPTS)
            await asyncio.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
        if operation.cause != "turn":
            raise CompactionError(
                f"The room could not be summed up: {faults} Nothing was changed. Make an agent "
                "ready and try again."
            )
        raise CompactionError(
            f"The room's history is too long for one packet and could not be summed up: {faults} "
            "Nothing was changed and nothing was sent. Make an agent ready and retry the turn."
        )

    async def _round(
        self, operation: Operation, prompt: str, chunk: Chunk
    ) -> tuple[Written | str, bool, bool]:
        """One try of each agent: a text that can be taken, or what went wrong, whether that may
        pass by itself, and whether any of them writes such texts."""
        faults: list[str] = []
        is_passing = is_able = False
        for entry in self._scribes.by_health():
            self._log.asks(operation, entry.actor_id)
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
            fault = fault_of(written.text, chunk, self._runtime.limits.context_characters)
            if fault is None:
                return written, False, True
            faults.append(f"{entry.display_name}: its summary was refused, {fault}.")
        return " ".join(faults), is_passing, is_able

    async def _save(self, operation: Operation, chunk: Chunk, written: Written) -> None:
        new = NewSummary(
            chunk.room_id,
            chunk.from_seq,
            chunk.through_seq,
            written.text,
            written.actor_id,
            None if chunk.previous is None else chunk.previous.summary_id,
        )
        now = self._runtime.clock.now()

        def step(connection: sqlite3.Connection) -> CompactionInfo:
            save_summary(connection, new, now)
            return self._log.keep_part(connection, operation, now)

        try:
            info = await write_patiently(self._runtime.ledger, step)
        except RefusedError as error:
            raise CompactionError(error.message) from error
        self._log.kept(operation, info, written)

    # --- small things -----------------------------------------------------------------------

    def _lock(self, room_id: str) -> asyncio.Lock:
        return self._locks.setdefault(room_id, asyncio.Lock())

    async def _read(self, query: Query[T]) -> T:
        return await read_patiently(self._runtime.ledger, query)
