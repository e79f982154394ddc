"""Texts that agents write for the server: summaries, and what a day held.

Each is written in a new short-lived process of the agent's program, with one fresh session that has
no tools of the room, in an empty folder: nothing of it reaches the agent's own sessions, and nobody
waits behind a turn. Bounded in time; what fails is an `AgentError` and changes nothing. Some
programs tell an error of their model as an answer, and do not say that an answer was cut: a text
counts only with the last line that it was asked to end with. The counterparts are `compaction`
and `dated`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from groupx_server.agents.base import AgentSpec, Session, SessionRequest
from groupx_server.context.checkpoint import new_fence
from groupx_server.domain.native import (
    ContentDelta,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    UsageReported,
)
from groupx_server.domain.record import BoundedText
from groupx_server.ledger.upkeepcosts import Cost, note_cost
from groupx_server.logs import get_logger
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.patience import write_patiently
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from groupx_shared.ids import new_id
from groupx_shared.settings import BUILTIN_DRIVER
from groupx_shared.text import clip_text, safe_line, safe_text

WITHIN_S: Final = 600.0
"""For one text, with the start of the program."""
KEPT_CHARS: Final = 65_536
"""Of an answer; none of these texts may be longer, so that is known to be too long then."""
WHOLE: Final = frozenset({"end_turn", "stop_sequence", "completed", "success", "stop"})
"""Reasons of an end that mean: all was said."""
RETRYABLE: Final = frozenset(
    {
        ErrorCode.ADAPTER_START_FAILED,
        ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT,
        ErrorCode.SESSION_NOT_AVAILABLE,
        ErrorCode.TURN_FIRST_EVENT_TIMEOUT,
        ErrorCode.TURN_IDLE_TIMEOUT,
        ErrorCode.TURN_INTERRUPTED,
    }
)
"""Failures of the program or its session that may pass by themselves."""
_HEALTH: Final = ("ready", "working", "waiting", "stopped", "starting", "retrying")
_UNWELL: Final = frozenset({"failed", "needs_login", "rate_limited", "disabled"})

END_RULE: Final = (
    "\n\nThe last line of your answer, after all that, is exactly this, without quotes: {end}"
)
"""Put after the task, for programs whose word on how an answer ended is not enough."""
SHOWN_CHARS: Final = 160
"""Of a text that was refused, in the reason."""

log = get_logger(__name__)


class CannotWriteError(AgentError):
    """The agent says that it does not write such texts (it has no model)."""


@dataclass(frozen=True, slots=True)
class Written:
    """A whole text, and what it cost as far as the agent told."""

    text: str
    actor_id: str
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came, before it is judged."""

    text: str
    stop_reason: str
    usage: dict[str, Any]


class Scribes:
    """The agents as writers."""

    def __init__(self, runtime: Runtime, agents: Agents) -> None:
        self._runtime = runtime
        self._agents = agents

    def by_health(self) -> Sequence[RosterEntry]:
        """Who may write for a room: the agents that are switched on, those that run first, in
        config order; one that cannot work now only when there is no other; the built-in last."""
        entries = [e for e in self._agents.roster.entries.values() if e.enabled]
        well = [e for e in entries if self._state(e) not in _UNWELL]
        return sorted(well or entries, key=self._rank)

    def _rank(self, entry: RosterEntry) -> tuple[bool, int]:
        state = self._state(entry)
        place = _HEALTH.index(state) if state in _HEALTH else len(_HEALTH)
        return entry.driver == BUILTIN_DRIVER, place

    def _state(self, entry: RosterEntry) -> str:
        return str(self._agents.board.info(entry).status)

    async def write(self, entry: RosterEntry, prompt: str, purpose: str, room_id: str) -> Written:
        """Have the agent write a text, and note what it cost. `purpose`: summary or dated, told to
        its program.

        Raises: AgentError; CannotWriteError when it never will.
        """
        end = end_line(entry, prompt)
        asked = prompt + END_RULE.format(end=end) if end else prompt
        with TemporaryDirectory(prefix="groupx-") as folder:
            spec = _elsewhere(entry.spec, Path(folder))
            try:
                async with asyncio.timeout(WITHIN_S):
                    answer = await self._answer(spec, asked, purpose)
            except TimeoutError as error:
                raise AgentError(
                    f"{entry.display_name} did not finish the text within {WITHIN_S:g} s.",
                    code=ErrorCode.AGENT_ERROR,  # no moment's trouble: not asked again at once
                ) from error
        cost = Cost(purpose, room_id, entry.actor_id, answer.usage)
        step = partial(note_cost, cost=cost, now=self._runtime.clock.now())
        await write_patiently(self._runtime.ledger, step)  # also of a text that is refused
        text = without_end(_whole(answer.text, answer.stop_reason), end)
        log.info("scribe.written", actor=entry.actor_id, purpose=purpose, chars=len(text))
        return Written(text, entry.actor_id, answer.usage)

    async def _answer(self, spec: AgentSpec, prompt: str, purpose: str) -> _Answer:
        try:
            driver = self._agents.factory(spec)
        except ConfigError as error:
            raise AgentError(error.message, details=error.details) from error
        try:
            await driver.start()
            meta = {"groupx": {"purpose": purpose, "actorId": spec.actor_id}}
            session = await driver.open_session(SessionRequest(cwd=spec.cwd, meta=meta))
            return await _answer(session, prompt)
        finally:
            await driver.close()


async def _answer(session: Session, prompt: str) -> _Answer:
    said, usage = BoundedText(KEPT_CHARS), dict[str, Any]()
    async with aclosing(session.prompt(new_id("turn"), prompt)) as events:
        async for event in events:
            if isinstance(event, ContentDelta):
                said.append(event.text)
            elif isinstance(event, UsageReported):
                usage.update(event.usage)
            elif isinstance(event, TurnFailed):
                raise AgentError(event.message, code=event.code, details=event.details)
            elif isinstance(event, TurnCancelled):
                break
            elif isinstance(event, TurnCompleted):
                usage.update(event.usage)
                text = str(said) if event.content is None else event.content
                return _Answer(text, event.stop_reason, usage)
    raise AgentError("The text was broken off.", code=ErrorCode.TURN_INTERRUPTED)


def _whole(text: str, stop_reason: str) -> str:
    """The cleaned text. Raises: CannotWriteError, AgentError when it is cut."""
    if stop_reason == "refusal":
        raise CannotWriteError(
            safe_text(text[:200]) or "It writes no such texts.",
            code=ErrorCode.CONTEXT_BUDGET_EXCEEDED,
        )
    if stop_reason not in WHOLE:
        raise AgentError(
            f"The text is cut (it ended with “{safe_text(stop_reason[:40])}”).",
            code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
        )
    return safe_text(text).strip()


def end_line(entry: RosterEntry, prompt: str) -> str:
    """The line by which a whole text is known; empty for the built-in agent, which tells errors
    and cuts apart from its text."""
    return "" if entry.driver == BUILTIN_DRIVER else f"[end of text {new_fence([prompt])}]"


def without_end(text: str, end: str) -> str:
    """The text before its last line. Raises: AgentError when that is not the agreed one."""
    if not end:
        return text
    before, found, after = text.rpartition(end)
    if not found or after.strip("`*_. \n"):
        raise AgentError(
            "Its text does not end with the line that it was asked to end with, so it is cut, or "
            f"an error told as an answer: “{clip_text(safe_line(text, 4_000), SHOWN_CHARS)}”.",
            code=ErrorCode.PROTOCOL_INVALID_MESSAGE,
        )
    return before.rstrip("`*_ \n")


def _elsewhere(spec: AgentSpec, folder: Path) -> AgentSpec:
    """The same program in another folder; one that is named by a relative path is still found."""
    argv = list(spec.argv)
    if argv and "/" in argv[0]:
        argv[0] = str(spec.cwd / argv[0])
    return replace(spec, argv=argv, cwd=folder)
