"""A scripted Claude Code for tests of the driver: its spec, its log, a driver that is closed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupx_server.agents.base import AgentSpec, AgentTimeouts, SessionRequest
from groupx_server.agents.claude_driver import ClaudeDriver
from groupx_server.agents.claude_session import ClaudeSession
from server.agents.kit import LIMIT_S, QUICK, NoGuard

SCRIPT = Path(__file__).parents[2] / "support" / "scripted_claude.py"


@dataclass
class ClaudeScript:
    """A scripted Claude Code in a folder of its own."""

    folder: Path
    guard: NoGuard = field(default_factory=NoGuard)

    def spec(
        self,
        *options: str,
        env: Mapping[str, str] | None = None,
        timeouts: AgentTimeouts = QUICK,
        **driver_options: Any,
    ) -> AgentSpec:
        """`options` as `scripted_claude.py` lists them."""
        sessions = self.folder / "sessions"
        sessions.mkdir(exist_ok=True)
        return AgentSpec(
            actor_id="agent:claude",
            driver="claude",
            argv=[sys.executable, "-S", str(SCRIPT)],
            cwd=self.folder,
            env={
                "SCRIPTED_LOG": str(self.folder / "log.jsonl"),
                "SCRIPTED_SESSIONS": str(sessions),
                "SCRIPTED_OPTIONS": " ".join(options),
                **(env or {}),
            },
            options=driver_options,
            timeouts=timeouts,
        )

    def log(self, what: str | None = None) -> list[dict[str, Any]]:
        """What the program wrote down, only of one kind when asked."""
        path = self.folder / "log.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        entries = [json.loads(line) for line in lines]
        return [entry for entry in entries if what is None or entry["what"] == what]

    def messages(self) -> list[str]:
        """The text of each message that reached any process, in order."""
        return [entry["text"] for entry in self.log("message")]

    def argv(self) -> list[str]:
        """The arguments of the newest session's process."""
        argv: list[str] = self.log("start")[-1]["argv"]
        return argv


@asynccontextmanager
async def running(
    script: ClaudeScript, spec: AgentSpec | None = None
) -> AsyncIterator[ClaudeDriver]:
    """A started driver that is closed whatever the test does, and leaves no group behind."""
    driver = ClaudeDriver(spec or script.spec(), script.guard)
    try:
        async with asyncio.timeout(LIMIT_S):
            await driver.start()
        yield driver
    finally:
        await driver.close()
    assert script.guard.added
    assert script.guard.groups == set()


async def opened(driver: ClaudeDriver, folder: Path, **request: Any) -> ClaudeSession:
    async with asyncio.timeout(LIMIT_S):
        session = await driver.open_session(SessionRequest(cwd=folder, **request))
    assert isinstance(session, ClaudeSession)
    return session
