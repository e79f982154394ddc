"""A driver without a process: each prompt plays the events a test gave it. For tests only."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from groupx_server.agents.base import (
    AgentInfo,
    AgentSpec,
    Driver,
    Recalled,
    Session,
    SessionRequest,
)
from groupx_server.domain.native import (
    ContentDelta,
    Continuity,
    NativeEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
)
from groupx_shared.errors import AgentError, RefusedError

Act = Callable[[], None] | Callable[[], Awaitable[None]]
Script = Sequence[NativeEvent | asyncio.Event | Act]
"""Events to yield; an asyncio.Event is waited for; a function is called, and awaited."""


END_LINE = re.compile(r"\[end of text \S+\]\Z")


class FakeSession(Session):
    """Plays scripts; a cancel ends the script with `TurnCancelled`."""

    def __init__(self, driver: FakeDriver, native_id: str, continuity: Continuity) -> None:
        self.native_session_id = native_id
        self.continuity = continuity
        self.driver = driver
        self.cancelled = asyncio.Event()
        self._lost = False

    @property
    def lost(self) -> bool:
        return self._lost

    async def prompt(self, turn_id: str, text: str) -> AsyncGenerator[NativeEvent, None]:
        self.driver.prompts.append(text)
        self.cancelled.clear()
        script = self.driver.next_script()
        for step in script:
            if isinstance(step, TurnCompleted) and (end := self.driver.end_of(text)):
                yield ContentDelta(end)
            if isinstance(step, asyncio.Event):
                await self._wait(step)
            elif callable(step):
                done = step()
                if done is not None:
                    with contextlib.suppress(RefusedError):  # as an agent would get it
                        await done
            else:
                if isinstance(step, TurnFailed) and step.session_lost:
                    self._lost = True
                    self.driver.die()
                yield step
            if self.cancelled.is_set():
                yield TurnCancelled()
                return

    async def _wait(self, event: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as tasks:
            waits = [tasks.create_task(event.wait()), tasks.create_task(self.cancelled.wait())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()

    async def cancel(self) -> None:
        self.cancelled.set()

    async def steer(self, text: str) -> bool:
        return await self.driver.take_steer(text)

    async def close(self) -> None:
        return None


DEFAULT_SCRIPT: Script = (ContentDelta("fine"), TurnCompleted())


class FakeDriver(Driver):
    """One pretended process."""

    def __init__(self, spec: AgentSpec, fleet: FakeFleet) -> None:
        self.spec = spec
        self.prompts = fleet.prompts
        self.scripts = fleet.scripts
        self._fleet = fleet
        self._exited = asyncio.Event()
        self._pid: int | None = None
        self._count = 0

    async def take_steer(self, text: str) -> bool:
        """As the fleet says; what was offered is remembered."""
        await self._fleet.steer_gate.wait()
        answer = self._fleet.steer_answer
        if isinstance(answer, AgentError):
            raise answer
        self._fleet.steers.append(text)
        return answer

    def end_of(self, prompt: str) -> str:
        """The last line that a text for the server is asked to end with."""
        ends = END_LINE.findall(prompt)
        return f"\n{ends[-1]}" if ends and self._fleet.ends_texts else ""

    def next_script(self) -> Script:
        """The agent's own, else the next one for anybody."""
        own = self._fleet.plans.get(self.spec.actor_id)
        waiting = own or self.scripts
        return waiting.popleft() if waiting else DEFAULT_SCRIPT

    async def start(self) -> AgentInfo:
        self._fleet.starts += 1
        if self._fleet.start_errors:
            raise self._fleet.start_errors.popleft()
        self._pid = 1
        return AgentInfo("fake", "1.0", "acp", "1", self._fleet.capabilities)

    async def open_session(self, request: SessionRequest) -> Session:
        self._count += 1
        self._fleet.requests.append(request)
        resumes = request.resume_native_id is not None and self._fleet.can_resume
        native_id = request.resume_native_id if resumes else None
        session = FakeSession(
            self,
            native_id or f"native-{self._fleet.starts}-{self._count}",
            "resumed" if resumes else "new",
        )
        session.has_mcp = request.mcp is not None and self._fleet.takes_tools
        if request.mcp is not None and not session.has_mcp:
            session.mcp_problem = "It takes none."
        if request.mcp is not None:
            self._fleet.tokens[self.spec.actor_id] = request.mcp.token
        return session

    async def recall(
        self,
        request: SessionRequest,
        native_turn_id: str | None,
        is_ours: Callable[[str], bool],
    ) -> Recalled | None:
        self._fleet.recall_requests.append(request)
        if isinstance(self._fleet.recalled, AgentError):
            raise self._fleet.recalled
        return self._fleet.recalled

    async def close(self) -> None:
        self.die()

    def die(self) -> None:
        self._pid = None
        self._exited.set()

    async def wait_exited(self) -> str:
        await self._exited.wait()
        return "The fake process ended."

    @property
    def pid(self) -> int | None:
        return self._pid

    def stderr_tail(self) -> str:
        return ""


class FakeFleet:
    """Builds the drivers and remembers everything that was asked of them."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.ends_texts = True
        """Texts for the server end as they were asked to."""
        self.scripts: deque[Script] = deque()
        self.requests: list[SessionRequest] = []
        self.start_errors: deque[AgentError] = deque()
        self.starts = 0
        self.can_resume = True
        self.capabilities: dict[str, Any] = {}
        self.takes_tools = True
        self.steers: list[str] = []
        """What was put into running turns."""
        self.steer_answer: bool | AgentError = True
        self.steer_gate = asyncio.Event()
        """Clear it to keep further messages on their way."""
        self.steer_gate.set()
        self.plans: dict[str, deque[Script]] = {}
        """Scripts of one agent; they go before `scripts`."""
        self.tokens: dict[str, str] = {}
        """The newest token for the room's tools of each agent."""
        self.drivers: list[FakeDriver] = []
        self.recalled: Recalled | AgentError | None = None
        self.recall_requests: list[SessionRequest] = []

    def plan(self, name: str, *scripts: Script) -> None:
        """Give an agent what it does in its next turns."""
        self.plans.setdefault(f"agent:{name}", deque()).extend(scripts)

    def __call__(self, spec: AgentSpec) -> Driver:
        driver = FakeDriver(spec, self)
        self.drivers.append(driver)
        return driver


def fake_spec(name: str = "a", cwd: Path = Path("/w")) -> AgentSpec:
    """A spec that nothing is started from."""
    return AgentSpec(actor_id=f"agent:{name}", driver="fake", argv=[], cwd=cwd)
