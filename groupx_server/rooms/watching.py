"""Observers at work: watching a turn step by step, and steering it.

Watching holds nothing: every step is on disk with its number, and so is how far each observer has
seen; a look that comes late, again, or after a restart misses none. A wait is bounded and ends
with the observer's own turn. What is steered is on disk before anybody is told.
"""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from groupx_server.context.advice import Advice, advice_text
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.calls import CallStopped
from groupx_server.ledger.correlation import ToldEvent, read_told
from groupx_server.ledger.outcomes import is_working
from groupx_server.ledger.steers import (
    Action,
    Outcome,
    Steer,
    SteerPlaced,
    delivery_of,
    place_steer,
    settle_nudge,
)
from groupx_server.ledger.steps import Seen
from groupx_server.ledger.watches import (
    Snapshot,
    Watching,
    first_seen,
    has_ended,
    has_news,
    read_snapshot,
    record_look,
    require_watch,
)
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.calls import MAX_WAIT_S, SETTLE_S, checked_content, nobody_waits, stopped
from groupx_server.rooms.nudging import WITHIN_S, Nudger, Offer
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watchpages import watch_result
from groupx_server.rooms.watchresults import SteerResult, WatchResult
from groupx_shared.errors import RefusedError
from groupx_shared.text import safe_line

Until = Literal["next_milestone", "terminal"]
MAX_REASON_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Look:
    """How an observer wants to look. `cursor` is that of an earlier look, to see it again."""

    subject_turn_id: str | None = None
    cursor: str | None = None
    until: Until = "next_milestone"
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Advise:
    """How an observer wants to steer. `command_id` is its own for this steer."""

    command_id: str
    action: Action
    reason: str
    content: str
    subject_turn_id: str | None = None


class AgentWatches:
    """The observers' use cases."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._agents = agents
        self._nudger = Nudger(runtime, agents)

    async def watch(self, caller: Caller, look: Look) -> WatchResult:
        """Wait for the next step of a watched turn (or its end), and say how it stands then.

        Raises: RefusedError (SUPERVISION_WATCH_REQUIRED, SUPERVISION_PAIR_INVALID;
        MCP_BINDING_MISMATCH also when the observer's turn ends meanwhile).
        """
        watching, since = await self._ledger.read(partial(self._begin, caller=caller, look=look))
        has_come = await self._wait(watching, since, look)

        def query(connection: sqlite3.Connection) -> tuple[Snapshot, ToldEvent]:
            require_watch(connection, caller, watching.subject.turn_id)
            snapshot = read_snapshot(connection, watching, since)
            return snapshot, read_told(connection, watching.pair.task_event_id, caller.room_id)

        snapshot, task = await self._ledger.read(query)
        timed_out = not has_come and not snapshot.is_ended
        step = partial(
            record_look,
            caller=caller,
            snapshot=snapshot,
            until=look.until,
            timed_out=timed_out,
            now=self._runtime.clock.now(),
        )
        await self._ledger.write(step)
        limit = self._runtime.limits.steers_per_subject_turn
        return watch_result(snapshot, task, limit, timed_out=timed_out)

    def _begin(
        self, connection: sqlite3.Connection, caller: Caller, look: Look
    ) -> tuple[Watching, Seen]:
        watching = require_watch(connection, caller, look.subject_turn_id)
        since = first_seen(connection, watching) if look.cursor is None else _seen(look.cursor)
        return watching, since

    async def _wait(self, watching: Watching, since: Seen, look: Look) -> bool:
        """Wait for what is wanted; False when the time is over first.

        Raises: RefusedError (MCP_BINDING_MISMATCH) when the observer's turn ends.
        """
        subject_id, watch_id = watching.subject.turn_id, watching.turn.turn_id

        def progress(connection: sqlite3.Connection) -> tuple[bool, bool]:
            has_come = has_ended(connection, subject_id) or (
                look.until == "next_milestone" and has_news(connection, subject_id, since.step)
            )
            return has_come, has_come or is_working(connection, watch_id)

        timeout_s = self._runtime.watch_s if look.timeout_s is None else look.timeout_s
        try:
            async with asyncio.timeout(min(timeout_s, MAX_WAIT_S)):
                while True:
                    rung, seen = self._runtime.steps.next, self._ledger.last_seq
                    has_come, may_wait = await self._ledger.read(progress)
                    if has_come:
                        return True
                    if not may_wait:
                        raise nobody_waits()
                    await self._something(rung, seen)
                    await asyncio.sleep(SETTLE_S)
        except TimeoutError:
            return False

    async def _something(self, rung: asyncio.Event, seen: int) -> None:
        """Wait for a step of a watched turn, or for an event."""
        async with asyncio.TaskGroup() as tasks:
            waits = (
                tasks.create_task(rung.wait()),
                tasks.create_task(self._ledger.changed(seen)),
            )
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()

    async def steer(self, caller: Caller, advise: Advise) -> SteerResult:
        """Advise a watched agent, or stop its turn and give it something else to do.

        Raises: RefusedError (SUPERVISION_WATCH_REQUIRED, SUPERVISION_PAIR_INVALID,
        STEER_LIMIT_REACHED, CLIENT_COMMAND_CONFLICT, MCP_BINDING_MISMATCH, and the limits of the
        root, which people see).
        """
        runtime = self._runtime
        steer = Steer(
            caller=caller,
            command_id=advise.command_id,
            action=advise.action,
            reason=safe_line(advise.reason, MAX_REASON_CHARS),
            content=checked_content(advise.content, runtime.limits),
            subject_turn_id=advise.subject_turn_id,
            live_turn_id=await self._live_turn(caller, advise),
        )
        step = partial(place_steer, steer=steer, limits=runtime.limits, now=runtime.clock.now())
        placed = await self._ledger.write(step)
        if isinstance(placed, CallStopped):
            raise stopped(placed)
        if placed.cancelled is not None:
            self._agents.cancelled(placed.cancelled)
        steered = placed.steered
        if placed.is_live:
            await self._nudger.give(self._offer(caller, steer, placed))
        elif placed.is_new:
            self._agents.queued([steered.subject_actor_id or ""])
        return await self._steer_result(placed)

    async def _live_turn(self, caller: Caller, advise: Advise) -> str | None:
        """The turn that can be given a further message right now, if it is the one meant."""
        find = partial(require_watch, caller=caller, subject_turn_id=advise.subject_turn_id)
        subject = (await self._ledger.read(find)).subject
        if self._agents.can_steer(subject.actor_id, subject.turn_id):
            return subject.turn_id
        return None

    def _offer(self, caller: Caller, steer: Steer, placed: SteerPlaced) -> Offer:
        steered = placed.steered
        advice = Advice(
            event_id=steered.message_event_id or "",
            observer_id=caller.actor_id,
            observer_name=self._agents.board.name(caller.actor_id),
            reason=steer.reason,
            content=steer.content,
        )
        return Offer(
            steered.subject_actor_id or "",
            steered.subject_turn_id,
            advice.event_id,
            advice_text(advice),
            settle_nudge,
        )

    async def _settled(self, message_id: str) -> tuple[Outcome, str | None]:
        """What became of advice; a repeated call may come while it is on its way."""
        find = partial(delivery_of, message_event_id=message_id)
        try:
            async with asyncio.timeout(WITHIN_S):
                while True:
                    seen = self._ledger.last_seq
                    state, next_turn_id = await self._ledger.read(find)
                    if state != "sending":
                        return state, next_turn_id
                    await self._ledger.changed(seen)
        except TimeoutError:
            return "unknown", None

    async def _steer_result(self, placed: SteerPlaced) -> SteerResult:
        steered = placed.steered
        message_id = steered.message_event_id or ""

        state, next_turn_id = await self._settled(message_id)
        limit = self._runtime.limits.steers_per_subject_turn
        return SteerResult.model_validate(
            {
                "action": steered.action,
                "reason": steered.reason,
                "subject_turn_id": steered.subject_turn_id,
                "subject": steered.subject_actor_id or "",
                "message_event_id": message_id,
                "correlation_id": placed.correlation_id,
                "delivery": state,
                "next_turn_id": next_turn_id,
                "steer_count": steered.steer_count,
                "steers_left": max(0, limit - steered.steer_count),
            }
        )


def _seen(cursor: str) -> Seen:
    """Raises: RefusedError when the cursor is not one of ours."""
    step, _, seq = cursor.partition("-")
    if not (step.isdecimal() and seq.isdecimal() and len(cursor) < 40):
        raise RefusedError("This cursor is not valid; leave it out to go on where you were.")
    return Seen(int(step), int(seq))
