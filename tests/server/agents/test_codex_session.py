"""Codex turns against a real child process: streams, questions, cancels, steers, deaths."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents.base import AgentTimeouts
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnStarted,
    UsageReported,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from server.agents.codex_kit import codex_opened, codex_running, codex_spec
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


# --- turns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--started-first"]])
async def test_an_answer_streams_and_ends_with_one_terminal(
    script: Script, options: list[str]
) -> None:
    async with codex_running(script, *options) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "hello")
    kinds = [type(event) for event in events]
    assert kinds == [TurnStarted, ContentDelta, ContentDelta, UsageReported, TurnCompleted]
    assert answer_of(events) == "echo: hello"
    started = events[0]
    assert isinstance(started, TurnStarted)
    assert started.native_turn_id is not None
    assert script.prompts() == ["hello"]


async def test_reasoning_plans_and_commands_come_in_order(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "[[think hm]][[plan]][[run ls]][[say done]]")
    assert [type(event) for event in events] == [
        TurnStarted,
        ReasoningDelta,
        PlanUpdated,
        ToolProgress,
        ToolProgress,
        ToolProgress,
        ContentDelta,
        ContentDelta,
        UsageReported,
        TurnCompleted,
    ]
    last = [event for event in events if isinstance(event, ToolProgress)][-1]
    assert last.call.content[0]["output"] == "early\nlate\n"


async def test_a_retry_says_why_it_waits_and_doubles_nothing(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "[[retry The ans]][[say The answer.]]")
    assert [e for e in events if isinstance(e, Waiting)] == [
        Waiting(0.0, "Reconnecting... 1/5: stream disconnected")
    ]
    assert terminal_of(events) == TurnCompleted("The answer.")


async def test_a_failed_model_fails_the_turn_and_not_the_thread(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        failure = failure_of(await collect(session, "[[error usageLimitExceeded]]"))
        assert failure.details["rateLimited"] is True
        assert not failure.session_lost
        assert failure_of(await collect(session, "[[empty]]")).code is ErrorCode.EMPTY_ANSWER
        assert answer_of(await collect(session, "hi")) == "echo: hi"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[[approve]]", "command approval"),
        ("[[ask item/tool/requestUserInput]]", "question"),
        ("[[ask mcpServer/elicitation/request]]", "elicitation"),
        ("[[ask item/permissions/requestApproval]]", "permission request"),
        ("[[ask no/such]]", "unknown request"),
    ],
)
async def test_a_question_fails_the_turn_and_hangs_nothing(
    script: Script, prompt: str, kind: str
) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        failure = failure_of(await collect(session, prompt))
        assert failure.code is ErrorCode.UNEXPECTED_NATIVE_INTERACTION
        assert failure.details["kind"] == kind
        assert not failure.session_lost
        assert answer_of(await collect(session, "hi")) == "echo: hi"
    assert len(script.log("answer")) == 1


async def test_a_thread_that_codex_lost_is_opened_anew_in_the_same_process(
    script: Script,
) -> None:
    async with codex_running(script, "--refuse-turn=thread not found: x") as driver:
        session = await codex_opened(driver, script)
        failure = failure_of(await collect(session, "hi"))
        assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
        assert failure.session_lost
        assert session.lost
        assert driver.pid is not None
        await codex_opened(driver, script)


# --- cancel and steer ------------------------------------------------------------------------


async def _cancelled(session: Any, prompt: str) -> list[NativeEvent]:
    """The events of a prompt that is cancelled at its first output."""
    events = []
    async with asyncio.timeout(LIMIT_S):
        async for event in session.prompt("turn_1", prompt):
            events.append(event)
            if isinstance(event, ContentDelta | ToolProgress):
                await session.cancel()
    return events


async def test_a_cancel_in_text_keeps_the_thread(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await _cancelled(session, "[[say part]][[silent]]")
        assert terminal_of(events) == TurnCancelled()
        assert answer_of(events) == "part"
        assert answer_of(await collect(session, "next")) == "echo: next"
    assert len(script.log("turn/interrupt")) == 1
    assert script.log("thread/backgroundTerminals/clean") == []


async def test_a_cancel_in_a_command_ends_the_command(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await _cancelled(session, "[[start sleep 99]][[silent]]")
        assert terminal_of(events) == TurnCancelled()
        last = [event for event in events if isinstance(event, ToolProgress)][-1]
        assert (last.phase, last.call.status) == ("ended", "cancelled")
        assert last.call.content[0]["exitCode"] == -1
    assert len(script.log("thread/backgroundTerminals/clean")) == 1


async def test_a_cancel_before_codex_has_begun_is_not_lost(script: Script) -> None:
    async with codex_running(script, "--interrupt-early") as driver:
        session = await codex_opened(driver, script)
        events = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "[[silent]]"):
                events.append(event)
                await session.cancel()
        assert terminal_of(events) == TurnCancelled()
    assert len(script.log("turn/interrupt")) == 2


@pytest.mark.parametrize("prompt", ["[[say a]][[hang]]", "[[flood]]"])
async def test_a_cancel_that_is_not_heard_ends_the_process(script: Script, prompt: str) -> None:
    async with codex_running(script, timeouts=quicker(cancel_s=0.2)) as driver:
        session = await codex_opened(driver, script)
        pid = driver.pid
        failure = failure_of(await _cancelled(session, prompt))
        assert failure.code is ErrorCode.TURN_CANCEL_TIMEOUT
        assert failure.session_lost
        assert pid is not None
        assert not is_running(pid)


async def test_a_stream_closed_early_interrupts_the_turn(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        stream = session.prompt("turn_1", "[[say a]][[silent]]")
        assert isinstance(await anext(stream), TurnStarted)
        await stream.aclose()
        assert answer_of(await collect(session, "next")) == "echo: next"
    assert len(script.log("turn/interrupt")) == 1


async def test_a_running_turn_takes_a_further_message(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        assert not await session.steer("nobody works")
        events: list[NativeEvent] = []
        steered: list[bool] = []
        async with asyncio.timeout(LIMIT_S):
            async for event in session.prompt("turn_1", "[[steered]]"):
                events.append(event)
                if isinstance(event, ContentDelta) and not steered:
                    steered.append(await session.steer("more"))
        assert steered == [True]
        assert answer_of(events) == "waitingmore"
        assert not await session.steer("too late")
    assert script.prompts() == ["[[steered]]"]


# --- death and nonsense ----------------------------------------------------------------------


async def test_a_death_in_a_turn_fails_it_with_status(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "[[say part]][[exit 3]]")
        failure = failure_of(events)
        assert answer_of(events) == "part"
        assert failure.code is ErrorCode.SESSION_NOT_AVAILABLE
        assert failure.session_lost
        assert failure.details == {"exitStatus": 3}
        assert "status 3" in await driver.wait_exited()
        assert not await session.steer("x")


async def test_garbage_between_messages_is_skipped(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "[[garbage 20]][[say still here]]")
        assert answer_of(events) == "still here"


async def test_a_giant_line_is_taken_whole(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        assert len(answer_of(await collect(session, "[[big 3000000]]"))) == 3_000_000


async def test_a_child_of_codex_does_not_outlive_it(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        child = int(answer_of(await collect(session, "[[child]]")))
        assert is_running(child)
    await until(lambda: not is_running(child), "the grandchild is gone")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
async def test_what_a_killed_codex_left_in_other_sessions_is_ended_before_the_turn_ends(
    script: Script,
) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        events = await collect(session, "[[detached]][[kill]]")
        assert "SIGKILL" in failure_of(events).message
        await until(lambda: not is_running(int(answer_of(events))), "the command is gone")


async def test_what_codex_leaves_on_purpose_stays(script: Script) -> None:
    async with codex_running(script) as driver:
        session = await codex_opened(driver, script)
        child = int(answer_of(await collect(session, "[[detached]]")))
    assert is_running(child)
    os.kill(child, signal.SIGKILL)


@pytest.mark.slow
async def test_a_codex_that_ignores_every_request_to_end_is_killed(script: Script) -> None:
    spec = codex_spec(script, "--ignore-eof", "--ignore-term", timeouts=AgentTimeouts(close_s=0.1))
    driver = CodexDriver(spec, script.guard)
    await driver.start()
    pid = driver.pid
    assert pid is not None
    await driver.close()
    assert not is_running(pid)


@pytest.mark.parametrize(
    ("prompt", "limits"),
    [
        ("[[silent]]", quicker(idle_s=0.2)),
        ("[[say a]][[silent]]", quicker(idle_s=0.2)),
        ("[[start x]][[silent]]", quicker(idle_s=0.05, tool_idle_s=0.2)),
    ],
)
async def test_silence_has_a_limit(script: Script, prompt: str, limits: AgentTimeouts) -> None:
    async with codex_running(script, timeouts=limits) as driver:
        session = await codex_opened(driver, script)
        failure = failure_of(await collect(session, prompt))
        assert failure.code is ErrorCode.TURN_IDLE_TIMEOUT
        assert failure.session_lost
        assert driver.pid is None


async def test_one_that_only_tries_its_model_again_is_told_to_stop(script: Script) -> None:
    async with codex_running(script, timeouts=quicker(idle_s=0.3)) as driver:
        session = await codex_opened(driver, script)
        pid = driver.pid
        failure = failure_of(await collect(session, "[[say a]][[retrying]]"))
        assert failure.code is ErrorCode.TURN_IDLE_TIMEOUT
        assert "Reconnecting... waiting for network" in failure.message
        assert not failure.session_lost
        assert answer_of(await collect(session, "again")) == "echo: again"
        assert driver.pid == pid


async def test_a_first_sign_that_never_comes_has_its_own_limit(script: Script) -> None:
    limits = quicker(first_event_s=0.2)
    async with codex_running(script, "--no-turn-answer", timeouts=limits) as driver:
        session = await codex_opened(driver, script)
        failure = failure_of(await collect(session, "hi"))
        assert failure.code is ErrorCode.TURN_FIRST_EVENT_TIMEOUT
        assert failure.session_lost
