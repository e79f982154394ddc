"""Turns of a scripted Claude Code in a real process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents import connection
from groupx_server.agents.claude_session import ClaudeSession
from groupx_server.agents.framing import LineSplitter
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    Waiting,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.claude_kit import ClaudeScript, opened, running
from server.agents.kit import (
    LIMIT_S,
    QUICK,
    answer_of,
    collect,
    failure_of,
    is_running,
    quicker,
    terminal_of,
    until,
)

pytestmark = pytest.mark.process


@pytest.fixture
def script(tmp_path: Path) -> ClaudeScript:
    return ClaudeScript(tmp_path)


@pytest.fixture
async def session(script: ClaudeScript) -> AsyncIterator[ClaudeSession]:
    async with running(script) as driver:
        yield await opened(driver, script.folder)


async def cancel_at_first_word(session: ClaudeSession, text: str) -> list[NativeEvent]:
    events, is_asked = list[NativeEvent](), False
    async with asyncio.timeout(LIMIT_S):
        async for event in session.prompt("turn_1", text):
            events.append(event)
            if isinstance(event, ContentDelta | ToolProgress) and not is_asked:
                is_asked = True
                await session.cancel()
                await session.cancel()
    return events


# --- turns -----------------------------------------------------------------------------------


async def test_an_answer_streams_and_ends_with_one_terminal(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    events = await collect(session, "hello")
    assert [type(event) for event in events] == [TurnStarted, ContentDelta, TurnCompleted]
    assert answer_of(events) == "echo: hello"
    assert script.messages() == ["hello"]


async def test_reasoning_tools_and_plans_come_in_order(session: ClaudeSession) -> None:
    events = await collect(session, "[[think hm]][[todo a]][[tool Bash]][[say done]]")
    assert [type(event) for event in events] == [
        TurnStarted,
        ReasoningDelta,
        PlanUpdated,
        ToolProgress,
        ToolProgress,
        ToolProgress,
        ContentDelta,
        TurnCompleted,
    ]


async def test_each_turn_tells_its_own_cost(session: ClaudeSession) -> None:
    for _ in range(2):
        last = terminal_of(await collect(session, "hi"))
        assert isinstance(last, TurnCompleted)
        assert last.usage["costAmount"] == 0.25


async def test_a_second_message_in_flight_is_refused(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    first = session.prompt("turn_1", "[[say a]][[silent]]")
    assert isinstance(await anext(first), TurnStarted)
    with pytest.raises(AgentError) as refused:
        await collect(session, "two")
    assert refused.value.code is ErrorCode.SESSION_NOT_AVAILABLE
    await first.aclose()
    assert len(script.messages()) == 1


async def test_a_retry_is_told_and_what_it_broke_off_is_void(session: ClaudeSession) -> None:
    events = await collect(session, "[[broken half an an]][[say an answer]]")
    [waiting] = [event for event in events if isinstance(event, Waiting)]
    assert "HTTP 529" in waiting.reason
    last = terminal_of(events)
    assert isinstance(last, TurnCompleted)
    assert last.content == "an answer"


async def test_an_error_of_the_model_keeps_the_session(session: ClaudeSession) -> None:
    failure = failure_of(await collect(session, "[[fail 429]]"))
    assert failure.code is ErrorCode.AGENT_ERROR
    assert failure.details["rateLimited"] is True
    assert answer_of(await collect(session, "again")) == "echo: again"


async def test_an_answer_without_a_stream_is_told(session: ClaudeSession) -> None:
    assert answer_of(await collect(session, "[[whole all at once]]")) == "all at once"


async def test_a_stray_result_does_not_end_the_turn(session: ClaudeSession) -> None:
    assert answer_of(await collect(session, "[[stray]][[say mine]]")) == "mine"


async def test_an_older_version_that_tells_nothing_of_messages_works(script: ClaudeScript) -> None:
    async with running(script, script.spec("old")) as driver:
        session = await opened(driver, script.folder)
        assert answer_of(await collect(session, "[[stray]][[say mine]]")) == "mine"
        events = await cancel_at_first_word(session, "[[say a]][[silent]]")
        assert isinstance(events[-1], TurnCancelled)
        assert not await session.steer("more")


async def test_a_turn_of_its_own_is_not_told_and_holds_ours_back(session: ClaudeSession) -> None:
    assert answer_of(await collect(session, "[[say one]][[then-own not asked for]]")) == "one"
    assert answer_of(await collect(session, "[[say two]]")) == "two"


# --- cancel ----------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", ["[[say a]][[silent]]", "[[open-tool]][[silent]]"])
async def test_cancel_ends_the_turn_and_the_session_goes_on(
    script: ClaudeScript, session: ClaudeSession, marker: str
) -> None:
    events = await cancel_at_first_word(session, marker)
    assert isinstance(events[-1], TurnCancelled)
    assert answer_of(await collect(session, "again")) == "echo: again"
    assert len(script.log("interrupt")) == 1


async def test_cancel_without_a_turn_does_nothing(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    await session.cancel()
    await collect(session, "hi")
    assert script.log("interrupt") == []


async def test_an_interrupt_that_is_lost_is_asked_again(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    events = []
    async with asyncio.timeout(LIMIT_S):
        async for event in session.prompt("turn_1", "[[lose-interrupt]][[say a]][[silent]]"):
            events.append(event)
            if isinstance(event, ContentDelta):
                await session.cancel()
                await until(lambda: session._link.client._interrupt_id is None, "answered")
                await session.cancel()
    assert isinstance(events[-1], TurnCancelled)
    assert len(script.log("interrupt")) == 2


@pytest.mark.parametrize("marker", ["[[say a]][[hang]]", "[[flood]]"])
async def test_a_program_that_ignores_the_interrupt_is_killed(
    script: ClaudeScript, marker: str
) -> None:
    async with running(script, script.spec(timeouts=quicker(cancel_s=0.1))) as driver:
        session = await opened(driver, script.folder)
        pid = driver.pid
        assert pid is not None
        failure = failure_of(await cancel_at_first_word(session, marker))
        assert failure.code is ErrorCode.TURN_CANCEL_TIMEOUT
        assert failure.session_lost
        assert session.lost
        assert not is_running(pid)


async def test_closing_the_stream_early_cancels_the_native_turn(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    stream = session.prompt("turn_1", "[[say a]][[silent]]")
    await anext(stream)
    await stream.aclose()
    assert len(script.log("interrupt")) == 1
    assert answer_of(await collect(session, "again")) == "echo: again"


# --- a further message -----------------------------------------------------------------------


async def test_a_further_message_is_answered_in_the_same_turn(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    events: list[NativeEvent] = []
    taken: list[bool] = []

    async def steer() -> None:
        taken.append(await session.steer("[[say more]]"))

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        async for event in session.prompt("turn_1", "[[say first ]][[silent]]"):
            events.append(event)
            if event == ContentDelta("first ", getattr(event, "message_id", None)):
                group.create_task(steer())
    assert taken == [True]
    assert answer_of(events) == "first more"
    assert isinstance(events[-1], TurnCompleted)
    assert [entry["priority"] for entry in script.log("message")] == [None, "now"]


async def test_a_further_message_that_nobody_answers_may_have_been_taken(
    script: ClaudeScript,
) -> None:
    spec = script.spec("mute-further", timeouts=replace(QUICK, request_s=0.2))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)

        async def steer_and_cancel() -> None:
            with pytest.raises(AgentError):
                await session.steer("[[say more]]")
            await session.cancel()

        async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
            async for event in session.prompt("turn_1", "[[say a]][[silent]]"):
                if isinstance(event, ContentDelta):
                    group.create_task(steer_and_cancel())
        assert isinstance(event, TurnCancelled)


async def test_a_cancel_ends_a_turn_whose_further_message_waits(session: ClaudeSession) -> None:
    events: list[NativeEvent] = []

    async def steer_and_cancel() -> None:
        assert await session.steer("[[silent]]")
        await session.cancel()

    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        async for event in session.prompt("turn_1", "[[say a]][[silent]]"):
            events.append(event)
            if isinstance(event, ContentDelta):
                group.create_task(steer_and_cancel())
    assert isinstance(events[-1], TurnCancelled)
    assert answer_of(await collect(session, "again")) == "echo: again"


async def test_without_a_turn_no_further_message_is_sent(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    assert not await session.steer("hi")
    assert script.messages() == []


# --- questions -------------------------------------------------------------------------------


@pytest.mark.parametrize("subtype", ["can_use_tool", "elicitation", "request_user_dialog"])
async def test_a_question_fails_the_turn_and_keeps_the_session(
    script: ClaudeScript, session: ClaudeSession, subtype: str
) -> None:
    failure = failure_of(await collect(session, f"[[ask {subtype}]]"))
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.details["kind"] == subtype
    assert not failure.session_lost
    assert answer_of(await collect(session, "again")) == "echo: again"
    assert script.log("reply")[0]["response"]["subtype"] == "success"


async def test_a_program_that_hangs_after_its_question_is_stopped(script: ClaudeScript) -> None:
    spec = script.spec(timeouts=quicker(cancel_s=0.1, close_s=0.1))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(
            await collect(session, "[[lose-interrupt]][[ask elicitation]][[hang]]")
        )
    assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
    assert failure.session_lost


@pytest.mark.parametrize("subtype", ["hook_callback", "mcp_message"])
async def test_requests_of_the_machinery_are_refused_and_the_turn_goes_on(
    script: ClaudeScript, session: ClaudeSession, subtype: str
) -> None:
    assert answer_of(await collect(session, f"[[ask {subtype}]][[say ok]]")) == "ok"
    assert script.log("reply")[0]["response"]["subtype"] == "error"


# --- silence, death, hostile output ----------------------------------------------------------


@pytest.mark.parametrize("marker", ["[[say a]][[hang]]", "[[hang]]"])
async def test_a_program_that_falls_silent_is_stopped(script: ClaudeScript, marker: str) -> None:
    spec = script.spec(timeouts=quicker(close_s=0.1, idle_s=0.1))
    async with running(script, spec) as driver:
        session = await opened(driver, script.folder)
        failure = failure_of(await collect(session, marker))
        assert failure.code is ErrorCode.TURN_IDLE_TIMEOUT
        assert failure.session_lost
        assert driver.pid is None


async def test_an_exit_in_a_turn_fails_it_with_status_and_last_words(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    events = await collect(session, "[[say part]][[exit 3]]")
    failure = failure_of(events)
    assert answer_of(events) == "part"
    assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
    assert failure.session_lost
    assert failure.details == {"exitStatus": 3}
    assert "the script says so" in failure.message
    with pytest.raises(AgentError):
        await collect(session, "again")
    assert len(script.messages()) == 1


async def test_a_killed_program_is_named_by_its_signal(session: ClaudeSession) -> None:
    assert "SIGKILL" in failure_of(await collect(session, "[[kill]]")).message


async def test_an_answer_counts_although_the_program_exits_right_after_it(
    session: ClaudeSession,
) -> None:
    events = await collect(session, "[[say done]][[then-exit 0]]")
    assert answer_of(events) == "done"
    assert isinstance(terminal_of(events), TurnCompleted)
    await until(lambda: session.lost, "the end is noticed")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["child", "daemon"])
async def test_children_of_a_program_that_died_are_ended(session: ClaudeSession, kind: str) -> None:
    events = await collect(session, f"[[{kind}]][[kill]]")
    child = int(answer_of(events))
    await until(lambda: not is_running(child), "the child is gone")


async def test_garbage_between_messages_is_skipped(session: ClaudeSession) -> None:
    events = await collect(session, "[[say a]][[garbage 500]][[array]][[say b]]")
    assert answer_of(events) == "ab"


@pytest.mark.slow
async def test_a_flood_of_garbage_ends_the_process(session: ClaudeSession) -> None:
    failure = failure_of(await collect(session, "[[garbage 20000]][[hang]]"))
    assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE
    assert failure.session_lost


@pytest.mark.slow
async def test_lines_of_16_mib_are_taken_both_ways(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    size = 16 * 1024 * 1024
    assert len(answer_of(await collect(session, f"[[big {size}]]"))) == size
    await collect(session, "[[empty]]" + "x" * size)
    assert len(script.messages()[-1]) == size + len("[[empty]]")


async def test_a_line_over_the_limit_ends_the_process(session: ClaudeSession) -> None:
    session._link._splitter = LineSplitter(max_line_bytes=100_000)
    failure = failure_of(await collect(session, "[[say a]][[big 200000]][[hang]]"))
    assert failure.code is ErrorCode.PROTOCOL_INVALID_MESSAGE


@pytest.mark.slow
async def test_a_slow_consumer_loses_nothing(session: ClaudeSession) -> None:
    count = 20_000
    pieces = []
    async with asyncio.timeout(30):
        async for event in session.prompt("turn_1", f"[[burst {count}]]"):
            if isinstance(event, ContentDelta):
                pieces.append(event.text)
                if len(pieces) == 1:
                    await until(lambda: session.flight is None or session.flight.is_full, "full")
    assert "".join(pieces) == "".join(f"{n} " for n in range(count))


async def test_a_program_that_never_reads_is_ended(
    script: ClaudeScript, session: ClaudeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MAX_UNSENT_BYTES", 0)
    monkeypatch.setattr(type(session._link._process), "unsent_bytes", 10**9)
    events = await collect(session, "hi")
    failure = failure_of(events)
    assert isinstance(failure, TurnFailed)
    assert "does not read" in failure.message


# --- closing ---------------------------------------------------------------------------------


async def test_closing_a_session_ends_its_process(script: ClaudeScript) -> None:
    async with running(script) as driver:
        session = await opened(driver, script.folder)
        pid = driver.pid
        await session.close()
        assert session.lost
        assert pid is not None
        assert not is_running(pid)
        with pytest.raises(AgentError):
            await collect(session, "hi")
    assert len(script.log("end_session")) == 1


async def test_closing_a_session_in_a_turn_cancels_it_and_then_ends_the_process(
    script: ClaudeScript, session: ClaudeSession
) -> None:
    events = []
    async for event in session.prompt("turn_1", "[[say a]][[silent]]"):
        events.append(event)
        if isinstance(event, ContentDelta):
            await session.close()
    assert isinstance(events[-1], TurnCancelled)
    assert session.lost
    assert script.guard.groups == set()
