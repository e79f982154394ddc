"""Dated memory: agents write down what their days held, for themselves, in batches.

What waits is on disk (`ledger/days.py`), so a restart loses nothing and nothing is written twice.
An agent writes its own days only; while it cannot, they wait, with pauses that grow. No turn waits
for this, but for a compaction, which gives it a bounded chance first.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final, TypeVar

from groupx_server.context.diary import (
    NOTHING,
    diary_prompt,
    fault_of_day,
    is_small_talk,
)
from groupx_server.ledger.batch import Step
from groupx_server.ledger.days import (
    Day,
    DayBatch,
    days_before,
    due_days,
    finish_batch,
    note_failure,
    read_batch,
)
from groupx_server.logs import get_logger
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.scribes import RETRYABLE, CannotWriteError, Scribes, Written
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ErrorCode, GroupXError, RefusedError

T = TypeVar("T")

LOOK_EVERY_S: Final = 60.0
"""Between two looks at what is due, which is one small query."""
TRIES: Final = 3
FIRST_PAUSE_S: Final = 0.5
MAX_BATCHES: Final = 16
"""Of one day in one go."""

log = get_logger(__name__)


class Diaries:
    """Writes down days of all agents; `run` lives as long as the server."""

    def __init__(self, runtime: Runtime, agents: Agents, scribes: Scribes) -> None:
        self._runtime = runtime
        self._agents = agents
        self._scribes = scribes
        self._busy = asyncio.Lock()

    async def run(self) -> None:
        """Write down what is due, until cancelled or until the ledger closes."""
        while self._runtime.ledger.is_open:
            try:
                await self.write_due()
            except GroupXError as error:
                log.warning("dated.failed", reason=error.message)
            await asyncio.sleep(LOOK_EVERY_S)

    async def write_due(self) -> None:
        """Write down all days that are due now."""
        now = self._runtime.clock.now()
        days = await read_patiently(self._runtime.ledger, partial(due_days, now=now))
        for day in days:
            await self._write_day(day)

    async def before_compaction(self, room_id: str, through_seq: int) -> None:
        """Give days a chance that are about to be summed up; what fails waits."""
        query = partial(days_before, room_id=room_id, through_seq=through_seq)
        for day in await read_patiently(self._runtime.ledger, query):
            await self._write_day(day)

    async def _write_day(self, day: Day) -> None:
        async with self._busy:
            for _ in range(MAX_BATCHES):
                query = partial(read_batch, day=day)
                batch = await read_patiently(self._runtime.ledger, query)
                if batch is None or not await self._write_batch(batch):
                    return

    async def _write_batch(self, batch: DayBatch) -> bool:
        """Write down one batch; False when it has to wait."""
        entry = self._agents.roster.entries.get(batch.day.actor_id)
        if entry is None or not entry.has_dated_memory or is_small_talk(batch):
            return await self._finish(batch, None)
        if not entry.enabled:
            return False
        try:
            written = await self._ask(entry, batch)
        except CannotWriteError:
            return await self._finish(batch, None)
        except AgentError as error:
            await self._fail(batch.day, error)
            return False
        return await self._finish(batch, written)

    async def _ask(self, entry: RosterEntry, batch: DayBatch) -> Written:
        """The agent's text. Raises: AgentError."""
        prompt = diary_prompt(batch, entry.display_name)
        for number in range(1, TRIES + 1):
            try:
                written = await self._scribes.write(entry, prompt, "dated", batch.day.room_id)
                break
            except AgentError as error:
                if error.code not in RETRYABLE or number == TRIES:
                    raise
            await asyncio.sleep(FIRST_PAUSE_S * 2 ** (number - 1))
        fault = fault_of_day(written.text)
        if fault is not None:
            raise AgentError(
                f"{entry.display_name}'s text of the day was refused: {fault}.",
                code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
            )
        return written

    async def _finish(self, batch: DayBatch, written: Written | None) -> bool:
        """Note the end of a batch; False when the day's record changed meanwhile."""
        is_something = written is not None and written.text != NOTHING
        step = partial(
            finish_batch,
            batch=batch,
            content=written.text if written is not None and is_something else None,
            usage={} if written is None else written.usage,
            now=self._runtime.clock.now(),
        )
        try:
            await self._write(step)
        except RefusedError as error:
            log.info("dated.changed", actor=batch.day.actor_id, reason=error.message)
            return False
        log.info(
            "dated.written",
            actor=batch.day.actor_id,
            day=batch.day.local_date,
            turns=len(batch.turns),
            kept=is_something,
        )
        return True

    async def _fail(self, day: Day, error: AgentError) -> None:
        log.warning("dated.waits", actor=day.actor_id, day=day.local_date, reason=error.message)
        now = self._runtime.clock.now()
        await self._write(partial(note_failure, day=day, code=error.code, now=now))

    async def _write(self, step: Step[T]) -> T:
        return await write_patiently(self._runtime.ledger, step)
