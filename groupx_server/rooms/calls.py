"""Agents that call each other: send, publish, ask, collect, as use cases.

What is said is on disk before anything is answered. Waiting is for the ledger's own signal, is
bounded, ends with the caller's turn, and keeps no state: `collect` finds the same turns again, in
another request, another turn or after a restart of the server.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from groupx_server.domain.acknowledgement import is_acknowledgement
from groupx_server.domain.limits import Limits
from groupx_server.ledger.callers import Caller, require_turn
from groupx_server.ledger.calls import AgentCall, CallKind, CallPlaced, CallStopped, place_call
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.outcomes import (
    Outcome,
    are_all_ended,
    correlation_of_call,
    is_working,
    read_outcomes,
)
from groupx_server.ledger.pairs import Watch
from groupx_server.ledger.queueing import Target
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.askresults import ask_result
from groupx_server.rooms.toolresults import AskResult, PublishResult, SendResult
from groupx_server.rooms.turnrunner import Runtime
from groupx_server.rooms.watchorders import observers_of, targets_of, watchers
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_text

MAX_WAIT_S: Final = 55.0
"""Many programs that run agents give a tool call 60 s; the answer must be there before."""

SETTLE_S: Final = 0.01
"""What happens in a busy room within this time is looked at once, however many wait."""

SILENT_NOTE: Final = (
    "This only acknowledges, so it was posted and woke nobody. If somebody should act, say what "
    "they should do; else end your turn."
)


@dataclass(frozen=True, slots=True)
class Say:
    """What an agent wants to say, to whom. `command_id` is its own for this message."""

    command_id: str
    content: str
    to: Sequence[str] = ()
    reply_to_event_id: str | None = None
    observers: Sequence[str] = ()
    """Who shall watch those in `to`."""
    brief: str = ""
    """What the observers shall look out for."""


class AgentCalls:
    """The calls of all agents. A caller comes from its token, never from what it says."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._agents = agents

    async def send(self, caller: Caller, say: Say) -> SendResult:
        """Post a message and wake its targets, without waiting. Raises: RefusedError."""
        placed = await self._place(caller, "send", say)
        reply = placed.reply
        return SendResult(
            message_event_id=reply.message_event_id,
            correlation_id=reply.correlation_id,
            turns=reply.turns,
            observers=observers_of(reply),
            note=None if reply.turns else SILENT_NOTE,
        )

    async def publish(self, caller: Caller, say: Say) -> PublishResult:
        """Post a message that wakes nobody. Raises: RefusedError."""
        reply = (await self._place(caller, "publish", say)).reply
        return PublishResult(
            message_event_id=reply.message_event_id, correlation_id=reply.correlation_id
        )

    async def ask(
        self, caller: Caller, say: Say, timeout_s: float | None, *, cancel_on_timeout: bool
    ) -> AskResult:
        """Wake the targets and wait for their answers; a target that is busy is not waited for.

        Raises: RefusedError (MCP_BINDING_MISMATCH also when the caller's turn ends meanwhile).
        """
        placed = await self._place(caller, "ask", say)
        reply, turn_id = placed.reply, placed.turn.turn_id
        if not reply.turns:
            return ask_result(reply.message_event_id, reply.correlation_id, [], SILENT_NOTE)
        event_id = reply.message_event_id
        is_busy = placed.is_new and any(turn.queue_position for turn in reply.turns)
        if not is_busy:
            has_ended = await self._wait(event_id, turn_id, self._bounded(timeout_s))
            if not has_ended and cancel_on_timeout:
                await self._cancel(caller, turn_id, event_id)
        result = ask_result(event_id, reply.correlation_id, await self._outcomes(event_id))
        return result.model_copy(update={"observers": observers_of(reply)})

    async def collect(self, caller: Caller, event_id: str, timeout_s: float | None) -> AskResult:
        """Wait again for exactly the turns of a message; nothing is created.

        Raises: RefusedError (UNKNOWN_TARGET; MCP_BINDING_MISMATCH).
        """

        def find(connection: sqlite3.Connection) -> tuple[str, str]:
            turn = require_turn(connection, caller)
            return turn.turn_id, correlation_of_call(connection, caller, turn, event_id)

        turn_id, correlation_id = await self._ledger.read(find)
        await self._wait(event_id, turn_id, self._bounded(timeout_s))
        return ask_result(event_id, correlation_id, await self._outcomes(event_id))

    async def _place(self, caller: Caller, kind: CallKind, say: Say) -> CallPlaced:
        content = checked_content(say.content, self._runtime.limits)
        call = AgentCall(
            caller=caller,
            kind=kind,
            command_id=say.command_id,
            content=content,
            targets=() if is_acknowledgement(content) else self._targets(say.to),
            reply_to_event_id=say.reply_to_event_id,
            watch=self._watch(say),
        )
        runtime = self._runtime
        step = partial(place_call, call=call, limits=runtime.limits, now=runtime.clock.now())
        done = await self._ledger.write(step)
        if isinstance(done, CallStopped):
            raise stopped(done)
        if done.is_new:
            self._agents.queued(targets_of(done.reply))
        return done

    def _watch(self, say: Say) -> Watch | None:
        if not say.observers:
            return None
        names = [name.removeprefix("@") for name in say.observers]
        return Watch(watchers(self._agents.roster, names), safe_text(say.brief))

    def _targets(self, names: Sequence[str]) -> list[Target]:
        resolve = self._agents.roster.resolve
        entries = {entry.actor_id: entry for entry in (resolve(n.removeprefix("@")) for n in names)}
        return [self._agents.target(entry) for entry in entries.values()]

    def _bounded(self, timeout_s: float | None) -> float:
        return min(self._runtime.ask_s if timeout_s is None else timeout_s, MAX_WAIT_S)

    async def _wait(self, event_id: str, caller_turn_id: str, timeout_s: float) -> bool:
        """Wait until all turns of the message have ended; False when the time is over first.

        Raises: RefusedError (MCP_BINDING_MISMATCH) when the caller's turn ends.
        """

        def progress(connection: sqlite3.Connection) -> tuple[bool, bool]:
            has_ended = are_all_ended(connection, event_id)
            return has_ended, has_ended or is_working(connection, caller_turn_id)

        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    seen = self._ledger.last_seq
                    has_ended, may_wait = await self._ledger.read(progress)
                    if has_ended:
                        return True
                    if not may_wait:
                        raise nobody_waits()
                    await self._ledger.changed(seen)
                    await asyncio.sleep(SETTLE_S)
        except TimeoutError:
            return False

    async def _cancel(self, caller: Caller, turn_id: str, event_id: str) -> None:
        for outcome in await self._outcomes(event_id):
            if not outcome.has_ended:
                step = partial(
                    cancel_turn,
                    turn_id=outcome.turn_id,
                    client_command_id=f"{turn_id}/timeout/{outcome.turn_id}",
                    limits=self._runtime.limits,
                    now=self._runtime.clock.now(),
                    binding_id=caller.binding_id,
                )
                self._agents.cancelled(await self._ledger.write(step))

    async def _outcomes(self, event_id: str) -> list[Outcome]:
        return await self._ledger.read(partial(read_outcomes, event_id=event_id))


def checked_content(content: str, limits: Limits) -> str:
    """What an agent says, cleaned. Raises: RefusedError (empty, or MESSAGE_TOO_LARGE)."""
    limit = limits.message_characters
    if not content.strip():
        raise RefusedError(
            "The message is empty: nothing was posted and nobody was woken. If you have nothing to "
            "say, end your turn."
        )
    if len(content) > limit:
        raise RefusedError(
            f"The message has {len(content):,} characters; the limit is {limit:,}. Put it in a "
            "file and name the file, or say it in parts.",
            code=ErrorCode.MESSAGE_TOO_LARGE,
            details={"size": len(content), "limit": limit, "unit": "characters"},
        )
    return safe_text(content)


def stopped(done: CallStopped) -> RefusedError:
    """What the agent is told of a limit: that people see it, and what it still can do."""
    held = (
        "Your message is held; a person may let it go."
        if done.stopped.is_new
        else "A person was told before and may let this go on."
    )
    return RefusedError(
        f"{done.error.message} {held} Do not send it again: publish what you have, or say in your "
        "final answer that you are stopped.",
        code=done.error.code,
        details={**done.error.details, "stopEventId": done.stopped.event_id},
    )


def nobody_waits() -> RefusedError:
    """What a waiting agent is told when its own turn ends."""
    return RefusedError(
        "Your turn ended or is being cancelled, so nobody waits for the answers any more.",
        code=ErrorCode.MCP_BINDING_MISMATCH,
    )
