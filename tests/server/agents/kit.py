"""What the tests of drivers and hosts share: scripted agents, logs, bounded waits."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec, AgentTimeouts, Session, SessionRequest
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    TerminalEvent,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
)

SCRIPT = Path(__file__).parents[2] / "support" / "scripted_agent.py"
LIMIT_S = 5.0
QUICK = AgentTimeouts(close_s=2.0)


class NoGuard:
    """A guard that only remembers."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.added: list[int] = []

    def add(self, pgid: int) -> None:
        self.groups.add(pgid)
        self.added.append(pgid)

    def remove(self, pgid: int) -> None:
        self.groups.discard(pgid)


@dataclass
class Script:
    """A scripted agent in a folder of its own."""

    folder: Path
    guard: NoGuard = field(default_factory=NoGuard)

    def spec(
        self,
        *options: str,
        env: Mapping[str, str] | None = None,
        timeouts: AgentTimeouts = QUICK,
        **driver_options: Any,
    ) -> AgentSpec:
        sessions = self.folder / "sessions"
        sessions.mkdir(exist_ok=True)
        return AgentSpec(
            actor_id="toy",
            driver="acp",
            argv=[sys.executable, "-S", str(SCRIPT), *options],
            cwd=self.folder,
            env={
                "SCRIPTED_LOG": str(self.folder / "log.jsonl"),
                "SCRIPTED_SESSIONS": str(sessions),
                **(env or {}),
            },
            options={"settle_s": 0.01, "load_quiet_s": 0.05, **driver_options},
            timeouts=timeouts,
        )

    def log(self, what: str | None = None) -> list[dict[str, Any]]:
        """What the agent wrote down, only of one kind when asked."""
        path = self.folder / "log.jsonl"
        entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return [entry for entry in entries if what is None or entry["what"] == what]

    def prompts(self) -> list[str]:
        """The text of each prompt that reached any process, in order."""
        return [entry["text"] for entry in self.log("prompt")]


@asynccontextmanager
async def running(script: Script, spec: AgentSpec | None = None) -> AsyncIterator[AcpDriver]:
    """A started driver that is closed whatever the test does, and leaves no group behind."""
    driver = AcpDriver(spec or script.spec(), script.guard)
    try:
        async with asyncio.timeout(LIMIT_S):
            await driver.start()
        yield driver
    finally:
        await driver.close()
    assert script.guard.added
    assert script.guard.groups == set()


async def opened(driver: AcpDriver, folder: Path, **request: Any) -> Session:
    async with asyncio.timeout(LIMIT_S):
        return await driver.open_session(SessionRequest(cwd=folder, **request))


async def collect(session: Session, text: str) -> list[NativeEvent]:
    """All events of one prompt, within the limit."""
    async with asyncio.timeout(LIMIT_S):
        return [event async for event in session.prompt("turn_1", text)]


def answer_of(events: list[NativeEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ContentDelta))


def terminal_of(events: list[NativeEvent]) -> TerminalEvent:
    last = events[-1]
    assert isinstance(last, TurnCompleted | TurnCancelled | TurnFailed)
    return last


def failure_of(events: list[NativeEvent]) -> TurnFailed:
    last = events[-1]
    assert isinstance(last, TurnFailed)
    return last


def is_running(pid: int) -> bool:
    """True while the process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    except OSError:
        return os.path.exists(f"/proc/{pid}")  # noqa: PTH110 - a file that vanishes meanwhile
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


async def until(condition: Callable[[], bool], what: str, within_s: float = LIMIT_S) -> None:
    """Poll a fact of the operating system that no event tells of; bounded."""
    deadline = asyncio.get_running_loop().time() + within_s
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, f"never came true: {what}"
        await asyncio.sleep(0.01)


def quicker(timeouts: AgentTimeouts = QUICK, **changes: float) -> AgentTimeouts:
    return replace(timeouts, **changes)
