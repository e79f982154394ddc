"""The codex driver against a real child process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents import codex_driver
from groupx_server.agents.base import McpEndpoint, SessionRequest
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.agents.host import AgentHost
from groupx_server.agents.registry import DriverRegistry
from groupx_shared.errors import AgentError, ConfigError, ErrorCode
from server.agents.codex_kit import codex_opened, codex_running, codex_spec
from server.agents.kit import (
    Script,
    answer_of,
    collect,
    is_running,
    quicker,
)

pytestmark = pytest.mark.process

MCP = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")


# --- start -----------------------------------------------------------------------------------


async def test_the_handshake_tells_which_codex_it_is(script: Script) -> None:
    driver = CodexDriver(codex_spec(script), script.guard)
    info = await driver.start()
    assert (info.name, info.version) == ("Codex", "9.8.7")
    assert (info.protocol, info.protocol_version) == ("codex-app-server", "2")
    pid = driver.pid
    assert pid is not None
    await driver.close()
    assert not is_running(pid)
    assert "closed" in await driver.wait_exited()
    methods = [entry["what"] for entry in script.log()]
    assert methods == [
        "start",
        "initialize",
        "initialized",
        "configRequirements/read",
        "account/read",
    ]


@pytest.mark.parametrize(("options", "needed"), [([], False), (["--signed-out"], True)])
async def test_a_missing_sign_in_is_known_before_the_first_prompt(
    script: Script, options: list[str], needed: bool
) -> None:
    driver = CodexDriver(codex_spec(script, *options), script.guard)
    info = await driver.start()
    await driver.close()
    assert info.capabilities["authRequired"] is needed


@pytest.mark.parametrize(
    ("option", "setting"),
    [("--approvals=on-request,untrusted", "never"), ("--sandboxes=read-only", "danger-full")],
)
async def test_a_policy_that_forbids_working_unasked_stops_the_start(
    script: Script, option: str, setting: str
) -> None:
    driver = CodexDriver(codex_spec(script, option), script.guard)
    with pytest.raises(AgentError) as blocked:
        await driver.start()
    assert blocked.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert setting in blocked.value.message
    assert driver.pid is None


@pytest.mark.parametrize("option", ["--approvals=never", "--no-requirements"])
async def test_without_proof_of_a_policy_it_starts(script: Script, option: str) -> None:
    async with codex_running(script, option) as driver:
        await codex_opened(driver, script)


async def test_a_start_that_exits_says_its_last_words(script: Script) -> None:
    driver = CodexDriver(codex_spec(script, "--init-exit=2"), script.guard)
    with pytest.raises(AgentError) as failed:
        await driver.start()
    assert failed.value.code is ErrorCode.ADAPTER_START_FAILED
    assert "cannot start: no disk" in failed.value.message
    assert "cannot start: no disk" in failed.value.details["stderr"]


async def test_a_start_that_hangs_is_given_up(script: Script) -> None:
    spec = codex_spec(script, "--init-hang", handshake_s=0.2)
    driver = CodexDriver(spec, script.guard)
    with pytest.raises(AgentError) as failed:
        await driver.start()
    assert failed.value.code is ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT
    assert script.guard.groups == set()


async def test_text_before_the_handshake_is_harmless(script: Script) -> None:
    async with codex_running(script, "--init-text=Welcome to Codex!") as driver:
        assert answer_of(await collect(await codex_opened(driver, script), "hi")) == "echo: hi"


async def test_only_its_own_home_is_inherited(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", "/home/of/codex")
    monkeypatch.setenv("GROUPX_TOKEN", "secret")
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        said = answer_of(await collect(session, "[[env CODEX_HOME]][[env GROUPX_TOKEN]]"))
    assert said == "/home/of/codex(not set)"
    async with codex_running(script, env={"CODEX_HOME": "/own"}) as driver:
        session = await codex_opened(driver, script)
        assert answer_of(await collect(session, "[[env CODEX_HOME]]")) == "/own"


# --- threads ---------------------------------------------------------------------------------


async def test_a_new_thread_is_asked_to_work_unasked(script: Script) -> None:
    async with codex_running(script, model="m") as driver:
        session = await codex_opened(driver, script)
        assert session.continuity == "new"
        assert not session.has_mcp
        await session.close()
        assert session.lost
    assert script.log("thread/start")[0]["params"] == {
        "cwd": str(script.folder),
        "approvalPolicy": "never",
        "sandbox": "danger-full-access",
        "model": "m",
    }
    assert script.log("thread/unsubscribe")[0]["params"] == {"threadId": session.native_session_id}


async def test_a_thread_that_would_ask_is_not_used(script: Script) -> None:
    async with codex_running(script, "--open-as=on-request") as driver:
        with pytest.raises(AgentError) as blocked:
            await codex_opened(driver, script)
    assert blocked.value.code is ErrorCode.NATIVE_POLICY_BLOCKED


async def test_the_rooms_tools_go_into_the_thread_and_not_onto_the_command_line(
    script: Script,
) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script, mcp=MCP)
        assert session.has_mcp
        assert session.mcp_problem == ""
    server = script.log("thread/start")[0]["params"]["config"]["mcp_servers"]["groupx"]
    assert server["http_headers"] == {"Authorization": "Bearer secret"}
    assert "secret" not in str(script.log("start"))


async def test_tools_that_do_not_come_up_do_not_keep_the_agent_from_working(
    script: Script,
) -> None:
    async with codex_running(script, "--tools-fail") as driver:
        session = await codex_opened(driver, script, mcp=MCP)
        assert not session.has_mcp
        assert session.mcp_problem == "groupx: nobody listens"
        assert answer_of(await collect(session, "hi")) == "echo: hi"
    assert len(script.log("thread/start")) == 2


@pytest.mark.slow
async def test_servers_of_the_person_are_waited_for(script: Script) -> None:
    async with codex_running(script, "--slow-server=0.4") as driver:
        await codex_opened(driver, script)
        assert len(script.log("server-ready")) == 1


async def test_servers_that_never_come_up_are_not_waited_for_without_end(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codex_driver, "_NOTICE_S", 0.02)
    async with codex_running(script, "--slow-server=60", mcp_wait_s=0.1) as driver:
        await codex_opened(driver, script)


def test_what_to_resume_is_known_before_the_first_start(script: Script) -> None:
    host = AgentHost(codex_spec(script), DriverRegistry(script.guard))
    assert host.protocol == "codex-app-server"


async def test_a_thread_is_resumed_in_a_fresh_process(script: Script) -> None:
    async with codex_running(script) as driver:
        first = await codex_opened(driver, script, mcp=MCP)
        await collect(first, "hi")
    async with codex_running(script) as driver:
        again = await codex_opened(
            driver, script, resume_native_id=first.native_session_id, mcp=MCP
        )
        assert again.continuity == "resumed"
        assert again.native_session_id == first.native_session_id
        assert answer_of(await collect(again, "there")) == "echo: there"
    params = script.log("thread/resume")[0]["params"]
    assert params["approvalPolicy"] == "never"
    assert params["excludeTurns"] is True
    assert "groupx" in params["config"]["mcp_servers"]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {}),
        (["--resume-cwd=/elsewhere"], {}),
        (["--resume-hang"], {"timeouts": quicker(session_s=0.3)}),
    ],
)
async def test_what_cannot_be_resumed_becomes_a_new_thread_that_says_so(
    script: Script, options: list[str], settings: dict[str, Any]
) -> None:
    async with codex_running(script, *options, **settings) as driver:
        if options:
            (script.folder / "threads" / "old").touch()
        session = await codex_opened(driver, script, resume_native_id="old")
        assert session.continuity == "new_after_resume_failure"
        assert session.native_session_id != "old"
        assert answer_of(await collect(session, "hi")) == "echo: hi"


async def test_threads_of_one_process_run_side_by_side(script: Script) -> None:
    async with codex_running(script) as driver:
        one = await codex_opened(driver, script)
        two = await codex_opened(driver, script)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(collect(one, "[[burst 50]]"))
            second = group.create_task(collect(two, "[[say two]]"))
    assert answer_of(first.result()) == "".join(f"{n} " for n in range(50))
    assert answer_of(second.result()) == "two"


async def test_a_dead_process_opens_nothing(script: Script) -> None:
    driver = CodexDriver(codex_spec(script), script.guard)
    with pytest.raises(AgentError) as refused:
        await driver.open_session(SessionRequest(cwd=script.folder))
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE


async def test_nothing_is_written_into_codexs_configuration(script: Script, tmp_path: Path) -> None:
    home = tmp_path / "codex-home"
    home.mkdir()
    async with codex_running(script, env={"CODEX_HOME": str(home)}) as driver:
        await collect(await codex_opened(driver, script, mcp=MCP), "hi")
    assert list(home.iterdir()) == []


async def test_a_program_that_is_not_there_is_named(script: Script) -> None:
    spec = codex_spec(script)
    missing = type(spec)("agent:toy", "codex", ["/no/such/codex"], script.folder)
    driver = CodexDriver(missing, script.guard)
    assert driver.spec.argv[-1] == "app-server"
    with pytest.raises(AgentError) as failed:
        await driver.start()
    assert "/no/such/codex" in failed.value.message


def test_options_are_checked_before_anything_starts(script: Script) -> None:
    with pytest.raises(ConfigError) as wrong:
        CodexDriver(codex_spec(script, modle="m"), script.guard)
    assert "modle" in wrong.value.message
