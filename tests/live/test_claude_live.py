"""The real Claude Code against a fake model on loopback, in a home of its own.

Skipped where the program is not installed; `GROUPX_LIVE_CLAUDE` names another than the one on PATH.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents.base import (
    AgentSpec,
    AgentTimeouts,
    McpEndpoint,
    Recalled,
    SessionRequest,
)
from groupx_server.agents.claude_driver import ClaudeDriver
from groupx_server.agents.claude_session import ClaudeSession
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    Waiting,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import NoGuard, is_running, until
from support import fake_messages as model
from support.fake_mcp import FakeMcp
from support.fake_messages import FakeMessages

PROGRAM = os.environ.get("GROUPX_LIVE_CLAUDE") or shutil.which("claude")
LIMIT_S = 30.0  # a cold start of a program of 400 MB on a busy machine
LIMITS = AgentTimeouts(handshake_s=LIMIT_S, session_s=LIMIT_S)

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(PROGRAM is None, reason="claude is not installed (GROUPX_LIVE_CLAUDE)"),
]


@dataclass
class Live:
    """A real Claude Code with its model; several processes may follow each other in one home."""

    folder: Path
    model: FakeMessages

    def spec(self, **env: str) -> AgentSpec:
        return AgentSpec(
            actor_id="agent:claude",
            driver="claude",
            argv=[str(PROGRAM)],
            cwd=self.folder / "work",
            env={
                "HOME": str(self.folder / "home"),
                "CLAUDE_CONFIG_DIR": str(self.folder / "home"),
                "ANTHROPIC_BASE_URL": self.model.url,
                "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_MAX_RETRIES": "1",
                **env,
            },
            timeouts=LIMITS,
        )

    @asynccontextmanager
    async def running(self, **env: str) -> AsyncIterator[ClaudeDriver]:
        """A started driver that leaves nobody behind, and no token in the temporary folder."""
        guard = NoGuard()
        driver = ClaudeDriver(self.spec(**env), guard)
        try:
            await driver.start()
            yield driver
        finally:
            await driver.close()
        assert guard.added
        assert guard.groups == set()

    async def open(self, driver: ClaudeDriver, **request: Any) -> ClaudeSession:
        async with asyncio.timeout(LIMIT_S):
            session = await driver.open_session(SessionRequest(self.folder / "work", **request))
        assert isinstance(session, ClaudeSession)
        return session


@pytest.fixture
async def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Live]:
    for name in ("work", "home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    async with FakeMessages() as fake:
        yield Live(tmp_path, fake)
    assert list((tmp_path / "tmp").iterdir()) == []


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


async def ask(session: ClaudeSession, text: str, cancel_on: type | None = None) -> Turn:
    """One prompt, cancelled at the first event of a kind when asked."""
    turn = Turn()
    async with asyncio.timeout(LIMIT_S):
        async for event in session.prompt("turn_1", text):
            turn.events.append(event)
            if cancel_on is not None and isinstance(event, cancel_on):
                await session.cancel()
    return turn


# --- what a turn shows -----------------------------------------------------------------------


async def test_text_streams_and_tokens_are_told(live: Live) -> None:
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Say hello.")
    assert turn.text == "Hello from the fake."
    assert sum(isinstance(event, ContentDelta) for event in turn.events) > 1
    assert isinstance(turn.last, TurnCompleted)
    assert turn.last.content is None
    assert turn.last.usage["totalTokens"] == 16
    assert turn.last.usage["contextUsed"] == 16
    assert "Say hello." in live.model.said()


async def test_reasoning_is_apart_from_the_answer(live: Live) -> None:
    live.model.plan(model.thought("First this, then that.", "42."))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "How much?")
    reasoning = "".join(e.text for e in turn.events if isinstance(e, ReasoningDelta))
    assert reasoning == "First this, then that."
    assert turn.text == "42."


async def test_a_command_runs_unasked_and_shows_its_output(live: Live) -> None:
    live.model.plan(model.shell("echo out; pwd; exit 3"))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Run it.")
    [call] = turn.calls
    assert (call.title, call.kind, call.status) == ("echo out; pwd; exit 3", "execute", "failed")
    assert call.content == (
        {"type": "terminal", "output": f"out\n{live.folder / 'work'}", "exitCode": 3},
    )
    assert "out" in turn.text


async def test_a_changed_file_is_a_diff(live: Live) -> None:
    path = live.folder / "work" / "new.txt"
    edit = {"file_path": str(path), "old_string": "two", "new_string": "TWO"}
    async with live.running() as driver:
        session = await live.open(driver)
        live.model.plan(model.tool("Write", {"file_path": str(path), "content": "one\ntwo\n"}))
        written = await ask(session, "Write it.")
        live.model.plan(model.tool("Edit", edit))
        edited = await ask(session, "Change it.")
    assert path.read_text("utf-8") == "one\nTWO\n"
    [made], [changed] = written.calls, edited.calls
    assert (made.kind, made.content[0]["newText"]) == ("edit", "one\ntwo\n")
    assert (changed.content[0]["oldText"], changed.content[0]["newText"]) == (
        "one\ntwo",
        "one\nTWO",
    )
    assert changed.locations == ({"path": str(path), "line": 1},)


async def test_a_sub_agent_works_within_the_turn(live: Live) -> None:
    task = {"description": "look", "prompt": "Look there.", "subagent_type": "general-purpose"}
    live.model.plan(model.tool("Agent", task), model.text("I looked."), model.text("It was there."))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Have somebody look.")
    assert turn.text == "It was there."
    [call] = turn.calls
    assert (call.title, call.status) == ("Agent look", "completed")
    assert "I looked." in str(call.content)


# --- cancel, further messages ----------------------------------------------------------------


async def test_a_cancel_in_text_and_then_another_prompt(live: Live) -> None:
    live.model.plan(model.endless("This goes on and on"))
    async with live.running() as driver:
        session = await live.open(driver)
        turn = await ask(session, "Talk.", cancel_on=ContentDelta)
        assert isinstance(turn.last, TurnCancelled)
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_a_cancel_in_a_command_ends_the_command(live: Live) -> None:
    pid_file = live.folder / "pid"
    live.model.plan(model.shell(f'echo $$ > {pid_file}; exec perl -e "sleep 300"'))
    async with live.running() as driver:
        session = await live.open(driver)
        turn = Turn()
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Wait."):
                turn.events.append(event)
                if isinstance(event, ToolProgress) and event.call.status == "in_progress":
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
        assert isinstance(turn.last, TurnCompleted)
        assert turn.text.endswith("Second.")
        assert "No, the other one." in live.model.said()
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_a_turn_is_steered_while_a_command_runs_which_ends_first(live: Live) -> None:
    started, go = live.folder / "started", live.folder / "go"
    wait = f"touch {started}; until [ -e {go} ]; do perl -e 'select(undef,undef,undef,.05)'; done"
    live.model.plan(model.shell(f"{wait}; echo done"), model.text("Both."))
    async with live.running() as driver:
        session = await live.open(driver)
        turn, steered = Turn(), list[bool]()
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Run it."):
                turn.events.append(event)
                if isinstance(event, ToolProgress) and event.phase == "updated":
                    await until(started.exists, "the command runs")
                    steered.append(await session.steer("And this too."))
                    go.touch()
    assert steered == [True]
    assert [call.status for call in turn.calls] == ["completed"]
    assert turn.text.endswith("Both.")
    assert "And this too." in live.model.said()


# --- sessions --------------------------------------------------------------------------------


async def test_a_session_goes_on_in_a_fresh_process(live: Live) -> None:
    async with live.running() as driver:
        first = await live.open(driver)
        await ask(first, "Remember the apples.")
    async with live.running() as driver:
        again = await live.open(driver, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        assert (await ask(again, "What did I say?")).text == "Hello from the fake."
    assert "Remember the apples." in live.model.said()


async def test_a_session_that_is_not_known_is_replaced(live: Live) -> None:
    async with live.running() as driver:
        empty = await live.open(driver)
        for unknown in (empty.native_session_id, "00000000-0000-4000-8000-000000000000", "odd"):
            other = await live.open(driver, resume_native_id=unknown)
            assert other.continuity == "new_after_resume_failure"
            await other.close()


async def test_rooms_have_processes_of_their_own(live: Live) -> None:
    async with live.running() as driver:
        one, two = await live.open(driver), await live.open(driver)
        async with asyncio.TaskGroup() as group:
            turns = [group.create_task(ask(session, "Hi.")) for session in (one, two)]
        assert [turn.result().text for turn in turns] == ["Hello from the fake."] * 2
        assert driver.pid is not None
        os.kill(driver.pid, signal.SIGKILL)
        await until(lambda: two.lost, "the session is lost")
        assert (await ask(one, "Still there?")).text == "Hello from the fake."


async def test_a_setting_that_forbids_the_mode_is_a_policy(live: Live) -> None:
    settings = live.folder / "home" / "settings.json"
    settings.write_text('{"permissions": {"disableBypassPermissionsMode": "disable"}}', "utf-8")
    async with live.running() as driver:
        with pytest.raises(AgentError) as refused:
            await live.open(driver)
    assert refused.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert "disabled by settings" in refused.value.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is asked for a sandbox")
async def test_root_without_a_sandbox_is_told_what_to_do(live: Live) -> None:
    async with live.running(IS_SANDBOX="") as driver:
        with pytest.raises(AgentError, match="IS_SANDBOX=1") as refused:
            await live.open(driver)
    assert refused.value.code is ErrorCode.ADAPTER_START_FAILED


async def test_its_transcript_tells_what_became_of_a_turn(live: Live) -> None:
    def nobody(_: str) -> bool:
        return False

    async with live.running() as driver:
        session = await live.open(driver)
        started = [e for e in (await ask(session, "One.")).events if isinstance(e, TurnStarted)]
        asked = SessionRequest(live.folder / "work", resume_native_id=session.native_session_id)
        told = TurnCompleted(content="Hello from the fake.")
        assert await driver.recall(asked, started[0].native_turn_id, nobody) == Recalled(told)
        assert await driver.recall(asked, None, lambda text: text == "One.") == Recalled(told)
        assert await driver.recall(asked, None, nobody) is None
        live.model.plan(model.endless("This goes on and on"))
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Two."):
                if isinstance(event, ContentDelta) and driver.pid is not None:
                    os.kill(driver.pid, signal.SIGKILL)
    async with live.running() as driver:
        assert await driver.recall(asked, None, lambda text: text == "Two.") == Recalled(None)


# --- the room's tools ------------------------------------------------------------------------


async def test_a_tool_of_the_room_is_called_in_the_first_turn(live: Live) -> None:
    live.model.plan(model.tool("mcp__groupx__read", {"n": 7}))
    async with FakeMcp("secret") as mcp, live.running() as driver:
        session = await live.open(driver, mcp=McpEndpoint("groupx", mcp.endpoint, "secret"))
        assert session.has_mcp
        turn = await ask(session, "Read.")
        assert mcp.calls == [{"n": 7}]
        wrong = await live.open(driver, mcp=McpEndpoint("groupx", mcp.endpoint, "wrong"))
        assert not wrong.has_mcp
        assert "Authorization" in wrong.mcp_problem
    [call] = turn.calls
    assert (call.title, call.status) == ("groupx: read", "completed")
    assert "the room has 7 messages" in str(call.content)


# --- errors and death ------------------------------------------------------------------------


async def test_a_lost_stream_is_tried_again_without_doubling_the_text(live: Live) -> None:
    live.model.plan(model.lost("Hello fr"), model.text("Hello again."))
    async with live.running() as driver:
        turn = await ask(await live.open(driver), "Hi.")
    assert [event for event in turn.events if isinstance(event, Waiting)]
    assert turn.text == "Hello again."


@pytest.mark.parametrize(
    ("status", "detail"), [(401, "authRequired"), (429, "rateLimited"), (400, "status")]
)
async def test_an_error_of_the_model_is_told_and_the_session_lives(
    live: Live, status: int, detail: str
) -> None:
    async with live.running() as driver:
        session = await live.open(driver)
        live.model.plan(*[model.refused(status, "the fake says no")] * 12)
        failed = (await ask(session, "Hi.")).last
        assert isinstance(failed, TurnFailed)
        assert failed.code is ErrorCode.AGENT_ERROR
        assert failed.details[detail]
        assert not failed.session_lost
        live.model.forget_plan()
        assert (await ask(session, "Again.")).text == "Hello from the fake."


async def test_without_a_sign_in_it_says_so(live: Live) -> None:
    async with live.running(ANTHROPIC_API_KEY="") as driver:
        assert (await driver.start()).capabilities["authRequired"] is True
        failed = (await ask(await live.open(driver), "Hi.")).last
    assert isinstance(failed, TurnFailed)
    assert failed.details["authRequired"] is True


async def test_a_death_in_a_command_fails_the_turn_and_leaves_nobody(live: Live) -> None:
    pid_file = live.folder / "pid"
    live.model.plan(model.shell(f'echo $$ > {pid_file}; exec perl -e "sleep 300"'))
    async with live.running() as driver:
        session = await live.open(driver)
        turn = Turn()
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "Hi."):
                turn.events.append(event)
                if isinstance(event, ToolProgress) and event.phase == "updated":
                    await _appears(pid_file)
                    assert driver.pid is not None
                    os.kill(driver.pid, signal.SIGKILL)
    assert isinstance(turn.last, TurnFailed)
    assert turn.last.code is ErrorCode.SESSION_NOT_AVAILABLE
    assert "SIGKILL" in turn.last.message
    await _gone(pid_file)


async def _appears(pid_file: Path) -> None:
    await until(
        lambda: pid_file.exists() and pid_file.read_text("utf-8").strip() != "", "the command runs"
    )


async def _gone(pid_file: Path) -> None:
    await until(lambda: not is_running(_pid(pid_file)), "the command is gone")


def _pid(pid_file: Path) -> int:
    return int(pid_file.read_text("utf-8"))
