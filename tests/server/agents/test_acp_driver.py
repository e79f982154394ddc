"""Starting a real child process and opening sessions in it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents import acp_driver
from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec, McpEndpoint, Recalled, SessionRequest
from groupx_server.domain.native import (
    TurnCancelled,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import (
    LIMIT_S,
    Script,
    answer_of,
    collect,
    is_running,
    opened,
    quicker,
    running,
    until,
)

pytestmark = pytest.mark.process

LATE_TOOLS = Path(__file__).parent / "late_tools_agent.py"


# --- start -----------------------------------------------------------------------------------


async def start_failure(script: Script, spec: AgentSpec) -> AgentError:
    driver = AcpDriver(spec, script.guard)
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(AgentError) as failed:
            await driver.start()
    assert driver.pid is None
    assert script.guard.groups == set()
    return failed.value


async def test_an_agent_that_exits_at_once_fails_the_start_with_its_words(script: Script) -> None:
    error = await start_failure(script, script.spec("--init-exit=2"))
    assert error.code is ErrorCode.ADAPTER_START_FAILED
    assert "status 2" in error.message
    assert "no such model" in error.details["stderr"]


async def test_an_agent_that_never_shakes_hands_is_stopped(script: Script) -> None:
    error = await start_failure(script, script.spec("--init-hang", handshake_s=0.2))
    assert error.code is ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT
    assert "initialize" in error.message


async def test_a_program_that_prints_text_is_quoted(script: Script) -> None:
    spec = script.spec("--init-text=Usage: toy [options]", "--init-exit=0")
    error = await start_failure(script, spec)
    assert "Usage: toy [options]" in error.message


async def test_a_refused_handshake_says_why(script: Script) -> None:
    error = await start_failure(script, script.spec("--init-error=-32000"))
    assert "signed in" in error.message


async def test_another_protocol_version_is_refused(script: Script) -> None:
    error = await start_failure(script, script.spec("--version=7"))
    assert error.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert "version 7" in error.message


async def test_a_start_that_is_given_up_leaves_nothing(script: Script) -> None:
    driver = AcpDriver(script.spec("--init-hang"), script.guard)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(driver.start())
        await until(lambda: driver.pid is not None, "the process runs")
        pid = driver.pid
        assert pid is not None
        task.cancel()
    await until(lambda: not is_running(pid), "the process is gone")


# --- sessions --------------------------------------------------------------------------------


async def test_a_session_is_resumed_when_the_agent_can(script: Script) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        await collect(first, "one")
    async with running(script) as driver:
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        assert again.native_session_id == first.native_session_id
        assert answer_of(await collect(again, "two")) == "echo: two"
    assert [entry["what"] for entry in script.log()].count("session/resume") == 1
    assert script.prompts() == ["one", "two"]


@pytest.mark.parametrize("options", [["--no-resume"], ["--no-resume", "--late-replay"]])
async def test_a_loaded_session_does_not_repeat_its_history(
    script: Script, options: list[str]
) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        await collect(first, "one")
    async with running(script, script.spec(*options)) as driver:
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        assert answer_of(await collect(again, "two")) == "echo: two"


@pytest.mark.parametrize("options", [[], ["--no-resume"], ["--no-resume", "--no-load"]])
async def test_a_session_that_cannot_be_resumed_is_replaced_and_said_so(
    script: Script, options: list[str]
) -> None:
    async with running(script, script.spec(*options)) as driver:
        session = await opened(driver, script.folder, resume_native_id="gone")
        assert session.continuity == "new_after_resume_failure"
        assert session.native_session_id != "gone"
        assert answer_of(await collect(session, "hi")) == "echo: hi"


async def test_a_resume_that_hangs_is_replaced_too(script: Script) -> None:
    spec = script.spec("--resume-hang", "--no-load", timeouts=quicker(session_s=0.2))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder, resume_native_id="stuck")
        assert session.continuity == "new_after_resume_failure"
        assert answer_of(await collect(session, "hi")) == "echo: hi"


async def test_another_session_than_the_one_asked_for_is_noticed(script: Script) -> None:
    spec = script.spec("--other-session-on-resume", session_id_path=["_meta", "real"])
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder, resume_native_id="wanted")
    assert session.native_session_id == "another"
    assert session.continuity == "new_after_resume_failure"


@pytest.mark.parametrize("options", [[], ["--late-replay"]])
async def test_what_a_session_repeats_tells_whether_a_prompt_had_arrived(
    script: Script, options: list[str]
) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        await collect(first, "one")
    asked = SessionRequest(script.folder, resume_native_id=first.native_session_id)
    async with running(script, script.spec(*options, load_quiet_s=0.1)) as driver:
        assert await driver.recall(asked, None, lambda text: text == "one") == Recalled(None)
        assert await driver.recall(asked, None, lambda text: text == "two") is None
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert answer_of(await collect(again, "two")) == "echo: two"
    assert script.prompts() == ["one", "two"]


async def test_an_agent_that_cannot_load_recalls_nothing(script: Script) -> None:
    asked = SessionRequest(script.folder, resume_native_id="some")
    async with running(script, script.spec("--no-load")) as driver:
        assert await driver.recall(asked, None, lambda _: True) is None
    async with running(script) as driver:
        with pytest.raises(AgentError, match="not found"):
            await driver.recall(asked, None, lambda _: True)


async def test_the_mode_is_set_again_after_a_resume(script: Script) -> None:
    spec = script.spec(
        "--modes=ask,yolo", mode_id="yolo", config_options=[{"id": "allow_all", "value": "on"}]
    )
    async with running(script, spec) as driver:
        first = await opened(driver, script.folder)
    async with running(script, spec) as driver:
        await opened(driver, script.folder, resume_native_id=first.native_session_id)
    modes = [entry["params"]["modeId"] for entry in script.log("session/set_mode")]
    assert modes == ["yolo", "yolo"]
    assert len(script.log("session/set_config_option")) == 2


@pytest.mark.parametrize("mode", ["nowhere", "forbidden"])
async def test_a_mode_that_is_not_to_be_had_is_an_error(script: Script, mode: str) -> None:
    spec = script.spec("--modes=ask,forbidden", mode_id=mode)
    async with running(script, spec) as driver:
        with pytest.raises(AgentError) as refused:
            await opened(driver, script.folder)
    assert refused.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert mode in refused.value.message


async def test_the_rooms_tools_are_attached_with_their_token(script: Script) -> None:
    mcp = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")
    async with running(script, script.spec("--http-mcp")) as driver:
        session = await opened(driver, script.folder, mcp=mcp, meta={"room": "main"})
        assert session.has_mcp
    params = script.log("session/new")[0]["params"]
    assert params == {
        "cwd": str(script.folder),
        "mcpServers": [
            {
                "type": "http",
                "name": "groupx",
                "url": "http://127.0.0.1:1/mcp",
                "headers": [{"name": "Authorization", "value": "Bearer secret"}],
            }
        ],
        "_meta": {"room": "main"},
    }


@pytest.mark.parametrize(("assume", "attached"), [(False, False), (True, True)])
async def test_tools_go_to_agents_that_take_them(
    script: Script, assume: bool, attached: bool
) -> None:
    mcp = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")
    async with running(script, script.spec(assume_http_mcp=assume)) as driver:
        session = await opened(driver, script.folder, mcp=mcp)
        assert session.has_mcp is attached
        assert ("over HTTP" in session.mcp_problem) is not attached


async def test_a_refused_session_says_how_to_sign_in(script: Script) -> None:
    async with running(script, script.spec("--new-error=-32000")) as driver:
        with pytest.raises(AgentError) as refused:
            await opened(driver, script.folder)
    assert refused.value.details["authMethods"] == ["An API key"]


async def test_a_closed_session_is_told_to_the_agent(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        await session.close()
        assert session.lost
        with pytest.raises(AgentError):
            await collect(session, "hi")
    assert len(script.log("session/close")) == 1


async def test_a_program_that_ignores_the_end_of_stdin_can_be_given_no_grace(
    script: Script,
) -> None:
    spec = script.spec("--ignore-eof", timeouts=quicker(close_s=60), close_grace_s=0)
    async with asyncio.timeout(LIMIT_S), running(script, spec) as driver:
        await opened(driver, script.folder)


async def test_closing_a_session_in_a_turn_cancels_the_turn(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "[[say a]][[silent]]"):
                events.append(event)
                await session.close()
        assert events[-1] == TurnCancelled()
        assert session.lost


async def test_the_servers_own_secrets_do_not_reach_the_agent(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_TOKEN", "secret")
    async with running(script, script.spec(env={"TOY_KEY": "given"})) as driver:
        session = await opened(driver, script.folder)
        said = answer_of(await collect(session, "[[env GROUPX_TOKEN]] [[env TOY_KEY]][[env TERM]]"))
    assert said == "(not set)givendumb"


async def test_an_agent_that_tells_when_it_has_its_tools_is_waited_for(script: Script) -> None:
    mcp = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")
    argv = [sys.executable, "-S", str(LATE_TOOLS)]
    spec = replace(script.spec(tools_ready="toy/tools_ready"), argv=argv)
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder, mcp=mcp)
        assert answer_of(await collect(session, "Have you got them?")) == "has tools: True"
        without = await opened(driver, script.folder)
        assert not without.has_mcp


async def test_one_that_does_not_tell_of_its_tools_is_not_waited_for_without_end(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acp_driver, "_MAX_TOOLS_WAIT_S", 0.2)
    mcp = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")
    argv = [sys.executable, "-S", str(LATE_TOOLS), "--never"]
    spec = replace(script.spec(tools_ready="toy/tools_ready"), argv=argv)
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder, mcp=mcp)
        assert answer_of(await collect(session, "Hi.")).startswith("has tools:")
