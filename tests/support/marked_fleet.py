"""Fake agents that do what the message asks for, and can die as one with their server.

The message's first word is the behaviour: `answer`, `slow` (half, wait, the rest), `hush` (nothing
until let go), `fail`, `die` (the session is lost). All prompts that ever reached an agent stand in
`taken`, also over several fleets, so that a test can prove how often each was sent.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from groupx_server.agents.base import AgentSpec, Driver, Session, SessionRequest
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    TurnCompleted,
    TurnFailed,
)
from groupx_shared.errors import ErrorCode
from support.fake_driver import FakeDriver, FakeFleet, FakeSession, Script

BEHAVIOURS = ("answer", "slow", "hush", "fail", "die")
TAG = re.compile(rf"\b({'|'.join(BEHAVIOURS)}) (t\d+t)")


class MarkedFleet(FakeFleet):
    """Gates of one server's agents; `taken` may be shared with the fleets before and after."""

    def __init__(self, taken: list[tuple[str, str]]) -> None:
        super().__init__()
        self.taken = taken
        """Actor and tag of each prompt."""
        self.is_dead = False
        """The server was killed: nothing reaches an agent any more."""
        self.gates: list[asyncio.Event] = []

    def __call__(self, spec: AgentSpec) -> Driver:
        return MarkedDriver(spec, self)

    def let_go(self) -> None:
        """Let everybody who waits go on."""
        for gate in self.gates:
            gate.set()
        self.gates.clear()


class MarkedDriver(FakeDriver):
    """A process whose sessions read the message."""

    def __init__(self, spec: AgentSpec, fleet: MarkedFleet) -> None:
        super().__init__(spec, fleet)
        self.fleet = fleet

    async def open_session(self, request: SessionRequest) -> Session:
        made = await super().open_session(request)
        session = MarkedSession(self, made.native_session_id, made.continuity)
        session.has_mcp = made.has_mcp
        return session


class MarkedSession(FakeSession):
    """Plays the behaviour of the message."""

    def __init__(self, driver: MarkedDriver, native_id: str, continuity: str) -> None:
        super().__init__(driver, native_id, continuity)  # type: ignore[arg-type]
        self._fleet = driver.fleet

    async def prompt(self, turn_id: str, text: str) -> AsyncGenerator[NativeEvent, None]:
        if self._fleet.is_dead:
            await asyncio.Event().wait()
        found = TAG.findall(text.rpartition("[current_message")[2])
        behaviour, tag = found[-1]
        self._fleet.taken.append((self.driver.spec.actor_id, tag))
        self.driver.scripts.append(self._script(behaviour))
        async for event in super().prompt(turn_id, text):
            yield event

    def _script(self, behaviour: str) -> Script:
        gate = asyncio.Event()
        if behaviour in ("slow", "hush"):
            self._fleet.gates.append(gate)
        lost = TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "It died.", session_lost=True)
        scripts: dict[str, Script] = {
            "answer": (ContentDelta("fine"), TurnCompleted()),
            "slow": (ContentDelta("be"), gate, ContentDelta("gun"), TurnCompleted()),
            "hush": (gate, ContentDelta("at last"), TurnCompleted()),
            "fail": (TurnFailed(ErrorCode.AGENT_ERROR, "no credit"),),
            "die": (ContentDelta("last words"), lost),
        }
        return scripts[behaviour]
