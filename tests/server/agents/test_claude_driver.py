"""The driver against real child processes: starting, sessions, tools, closing."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from groupx_server.agents.base import AgentSpec, McpEndpoint, SessionRequest, native_protocol
from groupx_server.agents.claude_driver import PROTOCOL, ClaudeDriver
from groupx_server.agents.host import AgentHost
from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.claude_kit import ClaudeScript, opened, running
from server.agents.kit import LIMIT_S, answer_of, collect, is_running, quicker, terminal_of, until

pytestmark = pytest.mark.process
TOOLS = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")


@pytest.fixture
def script(tmp_path: Path) -> ClaudeScript:
    return ClaudeScript(tmp_path)


def is_usable(driver: ClaudeDriver) -> bool:
    return driver.is_usable


# --- start -----------------------------------------------------------------------------------


async def test_a_start_only_looks_at_the_program(script: ClaudeScript) -> None:
    async with running(script) as driver:
        info = await driver.start()
        assert (info.name, info.version, info.protocol) == ("Claude Code", "2.1.332", PROTOCOL)
        assert info.capabilities["authRequired"] is False
        assert is_usable(driver)
        assert driver.pid is None
        assert driver.stderr_tail() == ""
    assert script.log() == []
    assert not is_usable(driver)
    assert native_protocol("claude") == PROTOCOL


async def start_failure(spec: AgentSpec, script: ClaudeScript) -> AgentError:
    driver = ClaudeDriver(spec, script.guard)
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(AgentError) as failed:
            await driver.start()
    assert not driver.is_usable
    assert script.guard.groups == set()
    return failed.value


async def test_an_old_version_fails_the_start(script: ClaudeScript) -> None:
    error = await start_failure(script.spec("version=2.0.1_(Claude_Code)"), script)
    assert error.code is ErrorCode.ADAPTER_START_FAILED


async def test_a_session_needs_a_start(script: ClaudeScript) -> None:
    driver = ClaudeDriver(script.spec(), script.guard)
    with pytest.raises(AgentError) as refused:
        await driver.open_session(SessionRequest(cwd=script.folder))
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE


# --- sessions --------------------------------------------------------------------------------


async def test_each_session_is_a_process_in_a_group_of_its_own(script: ClaudeScript) -> None:
    async with running(script) as driver:
        one = await opened(driver, script.folder)
        two = await opened(driver, script.folder)
        assert len(script.guard.groups) == 2
        assert one.native_session_id != two.native_session_id
        async with asyncio.TaskGroup() as group:
            first = group.create_task(collect(one, "[[burst 50]]"))
            second = group.create_task(collect(two, "[[say two]]"))
        assert answer_of(first.result()) == "".join(f"{n} " for n in range(50))
        assert answer_of(second.result()) == "two"
        pids = [entry["pid"] for entry in script.log("start")]
        assert driver.pid == pids[-1]
    assert not any(is_running(pid) for pid in pids)


async def test_a_new_session_is_told_its_id_and_its_mode(script: ClaudeScript) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
    argv = script.argv()
    assert argv[argv.index("--session-id") + 1] == session.native_session_id
    assert "--mcp-config" not in argv
    assert session.continuity == "new"
    assert not session.has_mcp
    [mode] = script.log("set_permission_mode")
    assert mode["request"]["mode"] == "bypassPermissions"


async def test_a_session_that_ended_is_taken_up_in_a_fresh_process(script: ClaudeScript) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        await collect(first, "one")
    async with running(script) as driver:
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        assert again.native_session_id == first.native_session_id
        assert answer_of(await collect(again, "two")) == "echo: two"
    assert script.argv()[-2:] == ["--resume", first.native_session_id]
    assert script.messages() == ["one", "two"]


async def test_a_session_without_a_turn_is_replaced_by_a_new_one(script: ClaudeScript) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert again.continuity == "new_after_resume_failure"
        assert again.native_session_id != first.native_session_id
        assert answer_of(await collect(again, "hi")) == "echo: hi"


async def test_an_id_that_is_in_use_is_replaced_by_another(
    script: ClaudeScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["taken", "free", *(f"message-{n}" for n in range(9))])
    monkeypatch.setattr("uuid.uuid4", lambda: next(ids))
    async with running(script) as driver:
        (script.folder / "sessions" / "taken").write_text("one\n", "utf-8")
        session = await opened(driver, script.folder)
        assert session.native_session_id == "free"
        assert session.continuity == "new"


async def session_failure(
    script: ClaudeScript, *options: str, session_s: float = 5.0
) -> AgentError:
    spec = script.spec(*options, timeouts=quicker(session_s=session_s))
    async with running(script, spec) as driver:
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(AgentError) as failed:
                await driver.open_session(SessionRequest(cwd=script.folder))
        assert driver.pid is None
        assert driver.is_usable
    return failed.value


async def test_a_program_that_exits_at_once_is_quoted(script: ClaudeScript) -> None:
    error = await session_failure(script, "init-exit=2")
    assert error.code is ErrorCode.ADAPTER_START_FAILED
    assert "status 2" in error.message
    assert "no such model" in error.details["stderr"]


async def test_a_program_that_never_answers_is_stopped(script: ClaudeScript) -> None:
    error = await session_failure(script, "init-hang", session_s=0.2)
    assert error.code is ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT
    assert "initialize" in error.message


async def test_text_instead_of_the_protocol_is_quoted(script: ClaudeScript) -> None:
    error = await session_failure(script, "init-text=Usage:", "init-exit=0")
    assert "Usage:" in error.message


@pytest.mark.parametrize(
    "options", [["refuse=bypass_disabled"], ["refuse=bypass_not_launched"], ["mode=default"]]
)
async def test_a_mode_that_is_proven_to_be_forbidden_is_a_policy(
    script: ClaudeScript, options: list[str]
) -> None:
    error = await session_failure(script, *options)
    assert error.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert "bypassPermissions" in error.message


async def test_a_refusal_that_proves_nothing_is_none(script: ClaudeScript) -> None:
    async with running(script, script.spec("refuse=unsupported_request", "old")) as driver:
        session = await opened(driver, script.folder)
        assert answer_of(await collect(session, "hi")) == "echo: hi"


async def test_a_policy_is_not_tried_again_as_a_new_session(script: ClaudeScript) -> None:
    async with running(script, script.spec("refuse=bypass_disabled")) as driver:
        (script.folder / "sessions" / "old").write_text("one\n", "utf-8")
        with pytest.raises(AgentError) as refused:
            await opened(driver, script.folder, resume_native_id="old")
        assert refused.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert len(script.log("start")) == 1


async def test_a_session_that_is_given_up_leaves_nothing(script: ClaudeScript) -> None:
    async with running(script, script.spec("init-hang")) as driver:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(driver.open_session(SessionRequest(cwd=script.folder)))
            await until(lambda: driver.pid is not None, "the process runs")
            pid = driver.pid
            task.cancel()
        assert pid is not None
        await until(lambda: not is_running(pid), "the process is gone")


@pytest.mark.parametrize("option", ["other-session", "other-cwd", "init-mode=plan"])
async def test_a_session_that_is_not_the_one_asked_for_is_lost(
    script: ClaudeScript, option: str
) -> None:
    async with running(script, script.spec(option)) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[silent]]")
        failure = terminal_of(events)
        assert isinstance(failure, TurnFailed)
        assert failure.session_lost
        assert session.lost
        assert driver.pid is None


# --- the room's tools ------------------------------------------------------------------------


async def test_the_tools_are_attached_by_a_file_that_is_gone_when_it_was_read(
    script: ClaudeScript,
) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder, mcp=TOOLS)
        assert session.has_mcp
        assert session.mcp_problem == ""
        argv = script.argv()
        assert not _exists(argv[argv.index("--mcp-config") + 1])
    [start] = script.log("start")
    assert start["mcp"]["mcpServers"]["groupx"]["headers"] == {"Authorization": "Bearer secret"}
    assert start["mcp_mode"] == "0o600"
    assert "secret" not in " ".join(argv)


def _exists(path: str) -> bool:
    return Path(path).exists()


async def test_tools_that_are_still_connecting_are_waited_for(script: ClaudeScript) -> None:
    async with running(script, script.spec("mcp-after=2")) as driver:
        assert (await opened(driver, script.folder, mcp=TOOLS)).has_mcp
    assert len(script.log("mcp_status")) == 3


@pytest.mark.parametrize(("options", "request_s"), [(["mcp=failed"], 5.0), (["mcp-after=99"], 0.3)])
async def test_tools_that_are_not_there_are_said_so(
    script: ClaudeScript, options: list[str], request_s: float
) -> None:
    limits = quicker(request_s=request_s)
    async with running(script, script.spec(*options, timeouts=limits)) as driver:
        session = await opened(driver, script.folder, mcp=TOOLS)
        assert not session.has_mcp
        assert session.mcp_problem == "it was said no"
        assert answer_of(await collect(session, "hi")) == "echo: hi"


# --- the end ---------------------------------------------------------------------------------


async def test_a_death_costs_one_session_and_nothing_else(script: ClaudeScript) -> None:
    async with running(script) as driver, asyncio.TaskGroup() as group:
        watch = group.create_task(driver.wait_exited())
        one = await opened(driver, script.folder)
        two = await opened(driver, script.folder)
        await collect(one, "hi")
        pids = [entry["pid"] for entry in script.log("start")]
        os.kill(pids[0], signal.SIGKILL)
        await until(lambda: one.lost, "the session is lost")
        await until(lambda: script.guard.groups == {pids[1]}, "the dead group is taken off")
        assert not two.lost
        assert driver.pid == pids[1]
        assert not watch.done()
        again = await opened(driver, script.folder, resume_native_id=one.native_session_id)
        assert again.continuity == "resumed"
        assert answer_of(await collect(two, "still here")) == "echo: still here"
        await driver.close()
        assert "closed" in await watch


@pytest.mark.slow
async def test_closing_ends_every_process_with_its_children(script: ClaudeScript) -> None:
    spec = script.spec("ignore-term", "ignore-eof", "start-child", timeouts=quicker(close_s=0.1))
    async with running(script, spec) as driver:
        await opened(driver, script.folder)
        await opened(driver, script.folder)
        pids = [entry["pid"] for entry in script.log() if entry["what"] in ("start", "child")]
    assert len(pids) == 4
    assert not any(is_running(pid) for pid in pids)


async def test_closing_twice_and_while_a_session_opens_is_fine(script: ClaudeScript) -> None:
    async with running(script, script.spec("init-hang")) as driver:
        async with asyncio.TaskGroup() as group:
            opening = group.create_task(_refused(driver, script.folder))
            await until(lambda: driver.pid is not None, "the process runs")
            await driver.close()
            await driver.close()
        assert opening.result().code is ErrorCode.SESSION_NOT_AVAILABLE


async def _refused(driver: ClaudeDriver, folder: Path) -> AgentError:
    with pytest.raises(AgentError) as refused:
        await driver.open_session(SessionRequest(cwd=folder))
    return refused.value


async def test_a_host_keeps_rooms_apart_and_resumes_the_one_that_died(script: ClaudeScript) -> None:
    host = AgentHost(script.spec(), lambda spec: ClaudeDriver(spec, script.guard))
    request = SessionRequest(cwd=script.folder)
    async with asyncio.TaskGroup() as group:
        run = group.create_task(host.run())
        one, two = await host.session("one", request), await host.session("two", request)
        instance = host.instance_id
        await collect(one, "hi")
        assert await host.session("one", request) is one
        os.kill(script.log("start")[0]["pid"], signal.SIGKILL)
        await until(lambda: one.lost, "the session is lost")
        resume = SessionRequest(cwd=script.folder, resume_native_id=one.native_session_id)
        again = await host.session("one", resume)
        assert again.continuity == "resumed"
        assert await host.session("two", request) is two
        assert host.instance_id == instance
        await host.close()
        await run
    assert script.guard.groups == set()


async def test_the_servers_own_secrets_do_not_reach_the_program(
    script: ClaudeScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_TOKEN", "secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "somebody's")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/moved")
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        names = ("GROUPX_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "TERM")
        said = [answer_of(await collect(session, f"[[env {name}]]")) for name in names]
    assert said == ["(not set)", "(not set)", "/moved", "dumb"]


@pytest.mark.slow
def test_the_driver_works_on_uvloop_too(script: ClaudeScript) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def talk() -> None:
        async with running(script) as driver:
            session = await opened(driver, script.folder)
            events = await collect(session, "[[burst 2000]]")
            assert sum(isinstance(event, ContentDelta) for event in events) == 2_000
            assert isinstance(terminal_of(events), TurnCompleted)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(talk())
