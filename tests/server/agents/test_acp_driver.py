"""The generic driver against a real child process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents import connection
from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec, McpEndpoint, Session, SessionRequest
from groupx_server.agents.flight import MAX_EVENTS
from groupx_server.agents.framing import LineSplitter
from groupx_server.agents.turn_session import TurnSession
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnStarted,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import (
    LIMIT_S,
    Script,
    answer_of,
    collect,
    failure_of,
    is_running,
    quicker,
    terminal_of,
    until,
)

pytestmark = pytest.mark.process


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


async def test_an_answer_streams_and_ends_with_one_terminal(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "hello")
    assert events == [TurnStarted(), ContentDelta("echo: hello"), TurnCompleted()]
    assert session.continuity == "new"
    assert script.prompts() == ["hello"]


async def test_the_handshake_tells_who_the_agent_is(script: Script) -> None:
    driver = AcpDriver(script.spec(), script.guard)
    info = await driver.start()
    assert (info.name, info.version, info.protocol, info.protocol_version) == (
        "scripted",
        "1.2.3",
        "acp",
        "1",
    )
    pid = driver.pid
    assert pid is not None
    await driver.close()
    assert not is_running(pid)
    assert "closed" in await driver.wait_exited()


async def test_reasoning_tools_and_plans_come_in_order(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[think hm]][[plan]][[tool ls]][[say done]]")
    kinds = [type(event) for event in events]
    assert kinds == [
        TurnStarted,
        ReasoningDelta,
        PlanUpdated,
        ToolProgress,
        ToolProgress,
        ContentDelta,
        TurnCompleted,
    ]


async def test_two_prompts_in_one_session_follow_each_other(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        assert answer_of(await collect(session, "one")) == "echo: one"
        assert answer_of(await collect(session, "two")) == "echo: two"


async def test_a_second_prompt_in_flight_is_refused(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        first = session.prompt("turn_1", "[[say a]][[silent]]")
        assert isinstance(await anext(first), TurnStarted)
        with pytest.raises(AgentError) as refused:
            await collect(session, "two")
        assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE
        await first.aclose()
    assert len(script.prompts()) == 1


async def test_sessions_of_one_process_do_not_mix(script: Script) -> None:
    async with running(script) as driver:
        one = await opened(driver, script.folder)
        two = await opened(driver, script.folder)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(collect(one, "[[burst 50]]"))
            second = group.create_task(collect(two, "[[say two]]"))
    assert answer_of(first.result()) == "".join(f"{n} " for n in range(50))
    assert answer_of(second.result()) == "two"


@pytest.mark.slow
async def test_a_late_update_still_belongs_to_its_turn(script: Script) -> None:
    async with running(script, script.spec(settle_s=0.2)) as driver:
        session = await opened(driver, script.folder)
        assert answer_of(await collect(session, "[[late at last]]")) == "at last"


# --- cancel ----------------------------------------------------------------------------------


async def test_cancel_ends_the_turn_and_the_session_goes_on(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "[[say a]][[silent]]"):
                events.append(event)
                if isinstance(event, ContentDelta):
                    await session.cancel()
                    await session.cancel()
        assert events[-1] == TurnCancelled()
        assert answer_of(await collect(session, "again")) == "echo: again"
    assert len(script.log("cancel")) == 1


async def test_cancel_without_a_turn_does_nothing(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        await session.cancel()
        await collect(session, "hi")
    assert script.log("cancel") == []


@pytest.mark.parametrize("marker", ["[[say a]][[hang]]", "[[flood]]"])
async def test_an_agent_that_ignores_a_cancel_is_killed(script: Script, marker: str) -> None:
    spec = script.spec(timeouts=quicker(cancel_s=0.1))
    async with running(script, spec) as driver:
        pid = driver.pid
        assert pid is not None
        session = await opened(driver, script.folder)
        events = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", marker):
                events.append(event)
                if isinstance(event, ContentDelta):
                    await session.cancel()
        failure = failure_of(events)
        assert failure.code is ErrorCode.TURN_CANCEL_TIMEOUT
        assert failure.session_lost
        assert session.lost
        assert not is_running(pid)


async def test_a_session_broken_by_a_cancel_is_given_up_with_its_process(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "[[say a]][[break-on-cancel]]"):
                events.append(event)
                await session.cancel()
        assert events[-1] == TurnCancelled()
        assert session.lost
        assert driver.pid is None


async def test_closing_the_stream_early_cancels_the_native_turn(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        stream = session.prompt("turn_1", "[[say a]][[silent]]")
        await anext(stream)
        await stream.aclose()
        assert len(script.log("cancel")) == 1
        assert answer_of(await collect(session, "again")) == "echo: again"


async def test_a_cancelled_consumer_ends_the_native_turn(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        seen = asyncio.Event()

        async def consume() -> None:
            async for _ in session.prompt("turn_1", "[[say a]][[silent]]"):
                seen.set()

        async with asyncio.TaskGroup() as group:
            task = group.create_task(consume())
            await seen.wait()
            task.cancel()
        assert len(script.log("cancel")) == 1
        assert not session.lost


async def test_a_consumer_cancelled_while_the_process_is_ended_kills_it(script: Script) -> None:
    spec = script.spec("--ignore-eof", "--ignore-term", timeouts=quicker(idle_s=0.1, close_s=60))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        pid = driver.pid
        assert pid is not None
        async with asyncio.TaskGroup() as group:
            task = group.create_task(collect(session, "[[say a]][[hang]]"))
            await until(lambda: session.lost, "the turn was given up")
            task.cancel()
        await until(lambda: not is_running(pid), "the process is gone")


# --- questions -------------------------------------------------------------------------------


async def test_a_permission_request_fails_the_turn_and_keeps_the_session(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[ask rm -rf /]]"))
        assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
        assert failure.details == {"title": "rm -rf /", "kind": "edit"}
        assert not failure.session_lost
        assert answer_of(await collect(session, "again")) == "echo: again"
    assert script.log("permission")[0]["answer"] == {"outcome": {"outcome": "cancelled"}}


async def test_an_agent_that_hangs_after_its_question_is_stopped(script: Script) -> None:
    spec = script.spec(timeouts=quicker(cancel_s=0.1))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[ask x]][[hang]]"))
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.session_lost


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "craft/drain"])
async def test_other_requests_are_refused_and_the_turn_goes_on(script: Script, method: str) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, f"[[request {method}]][[say ok]]")
    assert answer_of(events) == "ok"
    assert script.log("reply")[0]["answer"]["code"] == -32601


# --- silence ---------------------------------------------------------------------------------


async def test_an_agent_that_never_says_anything_is_stopped(script: Script) -> None:
    spec = script.spec(timeouts=quicker(first_event_s=0.1, close_s=0.1))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[hang]]"))
        assert failure.code is ErrorCode.TURN_FIRST_EVENT_TIMEOUT
        assert failure.session_lost
        assert driver.pid is None
    assert len(script.log("cancel")) == 1


async def test_an_agent_that_falls_silent_is_stopped(script: Script) -> None:
    spec = script.spec(timeouts=quicker(idle_s=0.1, close_s=0.1))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[say a]][[hang]]"))
    assert failure.code is ErrorCode.TURN_IDLE_TIMEOUT
    assert failure.session_lost


# --- death -----------------------------------------------------------------------------------


async def test_an_exit_in_a_turn_fails_it_with_status_and_last_words(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[say part]][[exit 3]]")
        failure = failure_of(events)
        assert answer_of(events) == "part"
        assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
        assert failure.session_lost
        assert failure.details == {"exitStatus": 3}
        assert "status 3" in failure.message
        assert "the script says so" in failure.message
        assert "status 3" in await driver.wait_exited()
        with pytest.raises(AgentError):
            await collect(session, "again")
    assert script.prompts() == ["[[say part]][[exit 3]]"]


async def test_a_killed_agent_is_named_by_its_signal(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        assert "SIGKILL" in failure_of(await collect(session, "[[kill]]")).message


@pytest.mark.slow
async def test_a_grandchild_that_holds_the_pipe_does_not_hide_a_death(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[child]][[exit 1]]")
        grandchild = int(answer_of(events))
        assert failure_of(events).session_lost
    assert not is_running(grandchild)


@pytest.mark.slow
async def test_a_closed_stdout_is_an_end(script: Script) -> None:
    async with running(script, script.spec(timeouts=quicker(close_s=0.1))) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[close]]"))
    assert "closed its output" in failure.message


# --- hostile output --------------------------------------------------------------------------


async def test_garbage_between_messages_is_skipped(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[say a]][[garbage 500]][[array]][[say b]]")
    assert answer_of(events) == "ab"
    assert isinstance(terminal_of(events), TurnCompleted)


@pytest.mark.slow
async def test_a_flood_of_garbage_ends_the_process(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[garbage 20000]][[hang]]"))
    assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert failure.session_lost


@pytest.mark.slow
async def test_a_line_of_16_mib_is_taken(script: Script) -> None:
    size = 16 * 1024 * 1024
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        assert len(answer_of(await collect(session, f"[[big {size}]]"))) == size


async def test_a_flood_on_stderr_never_blocks_and_only_its_end_is_kept(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[stderr 2000000]][[say through]]")
        assert answer_of(events) == "through"
        await until(lambda: "warning" in driver.stderr_tail(), "stderr was read")
        tail = driver.stderr_tail()
    assert len(tail) <= 70_000
    assert "\x1b" not in tail


@pytest.mark.slow
async def test_a_slow_consumer_holds_the_agent_back_and_loses_nothing(script: Script) -> None:
    count = 60_000
    high_water = MAX_EVENTS + 6_000  # and what one read of the pipe holds
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        assert isinstance(session, TurnSession)
        stream = session.prompt("turn_1", f"[[burst {count}]]")
        pieces = [event.text async for event in _first(stream) if isinstance(event, ContentDelta)]
        flight = session.flight
        assert flight is not None
        await until(lambda: flight.is_full, "the queue is full")
        with pytest.raises(AssertionError):  # the agent has far more to say, but must wait
            await until(lambda: flight.queued > high_water, "more is read", within_s=0.5)
        async with asyncio.timeout(30):
            pieces += [event.text async for event in stream if isinstance(event, ContentDelta)]
    assert "".join(pieces) == "".join(f"{n} " for n in range(count))


async def _first(stream: AsyncIterator[NativeEvent]) -> AsyncIterator[NativeEvent]:
    """The stream up to and with the first piece of the answer."""
    async for event in stream:
        yield event
        if isinstance(event, ContentDelta):
            return


async def test_a_cancel_reaches_an_agent_that_is_held_back(script: Script) -> None:
    async with running(script, script.spec(timeouts=quicker(cancel_s=0.1))) as driver:
        session = await opened(driver, script.folder)
        assert isinstance(session, TurnSession)
        stream = session.prompt("turn_1", "[[flood]]")
        assert isinstance(await anext(stream), TurnStarted)
        flight = session.flight
        assert flight is not None
        await until(lambda: flight.is_full, "the queue is full")
        await session.cancel()
        await until(lambda: len(script.log("cancel")) == 1, "the agent was told")
        events = [event async for event in stream]
        assert failure_of(events).code is ErrorCode.TURN_CANCEL_TIMEOUT


async def test_a_line_over_the_limit_fails_the_turn_and_ends_the_process(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        driver._link._splitter = LineSplitter(max_line_bytes=100_000)
        failure = failure_of(await collect(session, "[[say a]][[big 200000]][[hang]]"))
    assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert failure.session_lost


async def test_a_line_over_the_limit_in_a_replay_is_dropped(script: Script) -> None:
    async with running(script) as driver:
        first = await opened(driver, script.folder)
        await collect(first, "long " * 1_000)
    async with running(script, script.spec("--no-resume")) as driver:
        driver._link._splitter = LineSplitter(max_line_bytes=2_000)
        again = await opened(driver, script.folder, resume_native_id=first.native_session_id)
        assert again.continuity == "resumed"
        assert answer_of(await collect(again, "hi")) == "echo: hi"


async def test_an_agent_that_asks_and_never_reads_is_ended(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MAX_UNSENT_BYTES", 256 * 1024)
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, "[[say a]][[pester 20000]]"))
    assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert "does not read" in failure.message


async def test_an_answer_counts_although_the_agent_exits_right_after_it(script: Script) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        events = await collect(session, "[[say done]][[then-exit 0]]")
        assert answer_of(events) == "done"
        assert isinstance(terminal_of(events), TurnCompleted)
        await driver.wait_exited()
        assert session.lost


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
        assert (await opened(driver, script.folder, mcp=mcp)).has_mcp is attached


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


# --- the loop of the server ------------------------------------------------------------------


@pytest.mark.slow
def test_the_driver_works_on_uvloop_too(script: Script) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def talk() -> None:
        async with running(script) as driver:
            session = await opened(driver, script.folder)
            assert answer_of(await collect(session, "hello")) == "echo: hello"
            burst = answer_of(await collect(session, "[[burst 5000]]"))
            assert burst == "".join(f"{n} " for n in range(5_000))
            failure = failure_of(await collect(session, "[[stderr 300000]][[exit 3]]"))
            assert failure.details == {"exitStatus": 3}
            assert "the script says so" in failure.message

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(talk())


@pytest.mark.slow
def test_a_stubborn_agent_is_ended_on_uvloop_too(script: Script) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def talk() -> None:
        spec = script.spec("--ignore-term", "--ignore-eof", timeouts=quicker(close_s=0.1))
        async with running(script, spec) as driver:
            pid = driver.pid
            session = await opened(driver, script.folder)
            await collect(session, "[[child]]")
        assert pid is not None
        assert not is_running(pid)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(talk())
