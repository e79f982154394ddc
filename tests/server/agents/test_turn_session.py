"""Prompts against a real child process: streams, cancels, questions, silence."""

from __future__ import annotations

import asyncio

import pytest

from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.domain.native import (
    ContentDelta,
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
    opened,
    quicker,
    running,
    until,
)

pytestmark = pytest.mark.process


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
