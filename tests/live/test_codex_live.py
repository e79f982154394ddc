"""The real Codex against a fake model on loopback, in a home of its own.

Skipped where the program is not installed; `GROUPX_LIVE_CODEX` names another than the one on PATH.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents.base import AgentSpec, AgentTimeouts, McpEndpoint, SessionRequest
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.agents.codex_session import CodexSession
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    UsageReported,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from server.agents.kit import NoGuard, is_running, until
from support import fake_responses as model
from support.fake_mcp import FakeMcp
from support.fake_responses import FakeResponses

PROGRAM = os.environ.get("GROUPX_LIVE_CODEX") or shutil.which("codex")
LIMIT_S = 30.0  # a cold start of a program of 300 MB on a busy machine
LIMITS = AgentTimeouts(handshake_s=LIMIT_S, session_s=LIMIT_S)

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(PROGRAM is None, reason="codex is not installed (GROUPX_LIVE_CODEX)"),
]


@dataclass
class Live:
    """A real Codex with its model; several processes may follow each other in one home."""

    folder: Path
    model: FakeResponses
    limits: AgentTimeouts = LIMITS
    model_url: str = ""
    """Instead of the model's."""

    def spec(self) -> AgentSpec:
        provider = {
            "name": "Fake",
            "base_url": self.model_url or self.model.base_url,
            "wire_api": "responses",
            "requires_openai_auth": False,
            "request_max_retries": 1,
            "stream_max_retries": 1,
            "supports_websockets": False,
        }
        return AgentSpec(
            actor_id="agent:codex",
            driver="codex",
            argv=[str(PROGRAM)],
            cwd=self.folder / "work",
            env={"HOME": str(self.folder / "home"), "CODEX_HOME": str(self.folder / "home")},
            options={
                "model": "fake-model",
                "config": {"model_provider": "fake", "model_providers": {"fake": provider}},
            },
            timeouts=self.limits,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[CodexDriver]:
        """A started process that leaves nobody behind."""
        guard = NoGuard()
        driver = CodexDriver(self.spec(), guard)
        try:
            await driver.start()
            yield driver
        finally:
            await driver.close()
        assert guard.added
        assert guard.groups == set()

    async def open(self, driver: CodexDriver, **request: Any) -> CodexSession:
        async with asyncio.timeout(LIMIT_S):
            session = await driver.open_session(SessionRequest(self.folder / "work", **request))
        assert isinstance(session, CodexSession)
        return session


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()
    async with FakeResponses() as fake:
        yield Live(tmp_path, fake)


@dataclass
class Turn:
    events: list[NativeEvent] = field(default_factory=list)

    @property
    def last(self) -> NativeEvent:
        return self.events[-1]

    @property
    def text(self) -> str:
        content = getattr(self.last, "content", None)
        streamed = "".join(e.text for e in self.events if isinstance(e, ContentDelta))
        return streamed if content is None else str(content)

    @property
    def calls(self) -> list[ToolCall]:
        return [e.call for e in self.events if isinstance(e, ToolProgress) and e.phase == "ended"]


async def ask(session: CodexSession, text: str, cancel_on: type | None = None) -> Turn:
    """One prompt, cancelled at the first event of a kind when asked."""
    turn = Turn()
    async with asyncio.timeout(LIMIT_S):
        async for event in session.prompt("turn_1", text):
            turn.events.append(event)
            if cancel_on is not None and isinstance(event, cancel_on):
                await session.cancel()
    return turn


async def test_text_streams_and_tokens_are_told(live: Live) -> None:
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Say hello.")
    assert turn.text == "Hello from the fake."
    assert sum(isinstance(event, ContentDelta) for event in turn.events) > 1
    [told] = [event.usage for event in turn.events if isinstance(event, UsageReported)]
    assert (told["totalTokens"], told["thoughtTokens"]) == (15, 2)
    assert turn.last == TurnCompleted()
    assert "Say hello." in live.model.said()


async def test_reasoning_is_apart_from_the_answer(live: Live) -> None:
    live.model.plan(model.thought("**Planning** step by step.", "42."))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "How much?")
    reasoning = "".join(e.text for e in turn.events if isinstance(e, ReasoningDelta))
    assert reasoning == "**Planning** step by step."
    assert turn.text == "42."


async def test_a_command_runs_unasked_and_shows_its_output(live: Live) -> None:
    live.model.plan(model.shell("echo out; pwd; exit 3"))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Run it.")
    [call] = turn.calls
    assert (call.title, call.kind, call.status) == ("echo out; pwd; exit 3", "execute", "failed")
    assert call.content[0]["exitCode"] == 3
    assert call.content[0]["output"] == f"out\n{live.folder / 'work'}\n"
    assert "out" in turn.text


async def test_a_changed_file_is_a_diff(live: Live) -> None:
    patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch"
    live.model.plan(model.shell(f"apply_patch <<'EOF'\n{patch}\nEOF"))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Write it.")
    path = live.folder / "work/new.txt"
    assert path.read_text("utf-8") == "hello\n"
    [call] = turn.calls
    assert (call.title, call.kind) == ("Create new.txt", "edit")
    assert call.content[0]["newText"] == "hello\n"
    assert call.locations == ({"path": str(path)},)


async def test_a_cancel_in_text_and_then_another_prompt(live: Live) -> None:
    live.model.plan(model.endless("This goes on and on"))
    async with live.running() as driver:
        session = await live.open(driver)
        turn = await ask(session, "Talk.", cancel_on=ContentDelta)
        assert isinstance(turn.last, TurnCancelled)
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_a_cancel_in_a_command_ends_the_command(live: Live) -> None:
    pid_file = live.folder / "pid"
    live.model.plan(model.shell(f"echo $$ > {pid_file}; exec sleep 300"))
    async with live.running() as driver:
        session = await live.open(driver)
        stream = session.prompt("turn_1", "Wait.")
        turn = Turn()
        async with asyncio.timeout(LIMIT_S):
            async for event in stream:
                turn.events.append(event)
                if isinstance(event, ToolProgress) and event.phase == "started":
                    await _appears(pid_file)
                    await session.cancel()
        assert isinstance(turn.last, TurnCancelled)
        assert [call.status for call in turn.calls] == ["cancelled"]
        await _gone(pid_file)
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_a_turn_is_steered_while_it_speaks(live: Live) -> None:
    live.model.plan(model.endless("First"), model.text("Second."))
    async with live.running() as driver:
        session = await live.open(driver)
        turn, steered = Turn(), list[bool]()
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Talk."):
                turn.events.append(event)
                if isinstance(event, ContentDelta) and not steered:
                    steered.append(await session.steer("No, the other one."))
    assert steered == [True]
    assert turn.text.endswith("Second.")
    assert "No, the other one." in live.model.said()


async def test_a_thread_goes_on_in_a_fresh_process(live: Live) -> None:
    async with live.running() as driver:
        first = await live.open(driver)
        await ask(first, "Remember the apples.")
    async with live.running() as driver:
        again = await live.open(driver, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        await ask(again, "What did I say?")
        unknown = "00000000-0000-4000-8000-000000000000"
        other = await live.open(driver, resume_native_id=unknown)
        assert other.continuity == "new_after_resume_failure"
    assert "Remember the apples." in live.model.said()


async def test_a_tool_of_the_room_is_called_in_the_first_turn(live: Live) -> None:
    live.model.plan(model.tool_of("groupx", "read", {"n": 7}))
    async with FakeMcp("secret") as mcp, live.running() as driver:
        endpoint = McpEndpoint("groupx", mcp.endpoint, "secret")
        session = await live.open(driver, mcp=endpoint)
        assert session.has_mcp
        turn = await ask(session, "Read.")
        assert mcp.calls == [{"n": 7}]
        wrong = await live.open(driver, mcp=McpEndpoint("groupx", mcp.endpoint, "wrong"))
        assert not wrong.has_mcp
        assert "groupx" in wrong.mcp_problem
    [call] = turn.calls
    assert (call.title, call.status) == ("groupx: read", "completed")
    assert call.content[0]["text"] == "the room has 7 messages"


async def test_a_lost_stream_is_tried_again_without_doubling_the_text(live: Live) -> None:
    live.model.plan(model.lost("Hello fr"), model.text("Hello again."))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Hi.")
    assert [event for event in turn.events if isinstance(event, Waiting)]
    assert turn.text == "Hello again."


async def test_without_a_network_the_turn_is_given_up_with_the_reason(live: Live) -> None:
    live.limits = replace(LIMITS, idle_s=12.0)
    live.model_url = "http://127.0.0.1:9/v1"  # nobody listens on the port for discarding
    async with live.running() as driver:
        session = await live.open(driver)
        turn = await ask(session, "Hi.")
        failed = turn.last
        assert isinstance(failed, TurnFailed)
        assert failed.code is ErrorCode.TURN_IDLE_TIMEOUT
        assert "waited 12 s for its model" in failed.message
        assert "waiting for network" in failed.message
        assert not failed.session_lost
        assert not session.lost
        assert [event for event in turn.events if isinstance(event, Waiting)]


@pytest.mark.parametrize(
    ("status", "detail"), [(401, "authRequired"), (429, "rateLimited"), (400, "codexError")]
)
async def test_an_error_of_the_model_is_told_and_the_thread_lives(
    live: Live, status: int, detail: str
) -> None:
    async with live.running() as driver:
        session = await live.open(driver)
        live.model.plan(*[model.refused(status, "the fake says no")] * 8)
        failed = (await ask(session, "Hi.")).last
        assert isinstance(failed, TurnFailed)
        assert failed.code is ErrorCode.AGENT_ERROR
        assert failed.details[detail]
        assert not failed.session_lost
        live.model.forget_plan()
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_a_death_in_a_command_fails_the_turn_and_leaves_nobody(live: Live) -> None:
    pid_file = live.folder / "pid"
    live.model.plan(model.shell(f"(echo $BASHPID > {pid_file}; exec sleep 300); true"))
    async with live.running() as driver:
        session = await live.open(driver)
        turn = Turn()
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Hi."):
                turn.events.append(event)
                if isinstance(event, ToolProgress) and driver.pid is not None:
                    await _appears(pid_file)
                    os.kill(driver.pid, signal.SIGKILL)
    assert isinstance(turn.last, TurnFailed)
    await _gone(pid_file)
    assert turn.last.code is ErrorCode.SESSION_NOT_AVAILABLE
    assert "SIGKILL" in turn.last.message


async def _appears(pid_file: Path) -> None:
    await until(
        lambda: pid_file.exists() and pid_file.read_text("utf-8").strip() != "", "the command runs"
    )


async def _gone(pid_file: Path) -> None:
    await until(lambda: not is_running(_pid(pid_file)), "the command is gone")


def _pid(pid_file: Path) -> int:
    return int(pid_file.read_text("utf-8"))
