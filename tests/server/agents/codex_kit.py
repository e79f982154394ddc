"""A scripted `codex app-server` for each test, and a driver on it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from groupx_server.agents.base import AgentSpec, AgentTimeouts, SessionRequest
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.agents.codex_session import CodexSession
from server.agents.kit import LIMIT_S, QUICK, Script

PROGRAM = Path(__file__).parents[2] / "support" / "scripted_codex.py"


def codex_spec(
    script: Script,
    *options: str,
    env: Mapping[str, str] | None = None,
    timeouts: AgentTimeouts = QUICK,
    **driver_options: Any,
) -> AgentSpec:
    """What to start: the scripted program with these options."""
    sessions = script.folder / "threads"
    sessions.mkdir(exist_ok=True)
    return AgentSpec(
        actor_id="agent:toy",
        driver="codex",
        argv=[sys.executable, "-S", str(PROGRAM), *options],
        cwd=script.folder,
        env={
            "SCRIPTED_LOG": str(script.folder / "log.jsonl"),
            "SCRIPTED_SESSIONS": str(sessions),
            **(env or {}),
        },
        options=driver_options,
        timeouts=timeouts,
    )


@asynccontextmanager
async def codex_running(
    script: Script, *options: str, **settings: Any
) -> AsyncIterator[CodexDriver]:
    """A started driver that is closed whatever the test does, and leaves no group behind."""
    driver = CodexDriver(codex_spec(script, *options, **settings), script.guard)
    try:
        async with asyncio.timeout(LIMIT_S):
            await driver.start()
        yield driver
    finally:
        await driver.close()
    assert script.guard.added
    assert script.guard.groups == set()


async def codex_opened(driver: CodexDriver, script: Script, **request: Any) -> CodexSession:
    """A thread of the running program."""
    async with asyncio.timeout(LIMIT_S):
        session = await driver.open_session(SessionRequest(cwd=script.folder, **request))
    assert isinstance(session, CodexSession)
    return session
