"""A process that dies or misbehaves under the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from groupx_server.agents import connection
from groupx_server.agents.flight import MAX_EVENTS
from groupx_server.agents.framing import LineSplitter
from groupx_server.agents.turn_session import TurnSession
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    TurnCompleted,
    TurnStarted,
)
from groupx_shared.errors import AgentError, ErrorCode
from server.agents.kit import (
    Script,
    answer_of,
    collect,
    failure_of,
    is_running,
    opened,
    quicker,
    running,
    terminal_of,
    until,
)

pytestmark = pytest.mark.process


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
async def test_what_a_killed_agent_started_in_a_session_of_its_own_is_ended(
    script: Script,
) -> None:
    async with running(script, script.spec("--start-stray")) as driver:
        [stray] = [int(entry["pid"]) for entry in script.log("child")]
        assert is_running(stray)
        session = await opened(driver, script.folder)
        await collect(session, "[[kill]]")
    # The signal has been sent when the driver is closed; the machine ends the process soon after.
    await until(lambda: not is_running(stray), "the stray process is gone")


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
