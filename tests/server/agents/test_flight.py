"""The limits of a turn, on a clock that stands still."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from groupx_server.agents import flight as flights
from groupx_server.agents.acp_turn import AcpTurn, Quirks
from groupx_server.agents.base import AgentTimeouts
from groupx_server.agents.flight import Flight
from groupx_server.domain.native import (
    ContentDelta,
    ToolCall,
    ToolProgress,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    Waiting,
)
from groupx_shared.errors import ErrorCode
from server.agents.manual_clock import ManualClock

LIMITS = AgentTimeouts(first_event_s=180, idle_s=300, cancel_s=10, silence_s=10, tool_idle_s=3600)


class LeapingClock(ManualClock):
    """Nobody has to wait."""

    async def wait(self, event: asyncio.Event, until: float | None) -> bool:
        assert until is not None
        self.waits.append(until - self.now())
        self.advance(until - self.now())
        return event.is_set()


class Sky:
    """A flight, its turn and its clock."""

    def __init__(self, settle_s: float = 0.05, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.started_at = self.clock.now()
        self.turn = AcpTurn("Toy", 1, Quirks())
        self.flight = Flight(self.turn, "Toy", LIMITS, settle_s, self.clock)

    def hear(self, **update: Any) -> None:
        self.flight.arrived(self.turn.update(update))

    def say(self, text: str = "x") -> None:
        self.hear(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})

    def failure(self) -> TurnFailed | None:
        self.flight.check_limits()
        return self.flight.failure


def test_silence_is_told_each_time_it_has_doubled() -> None:
    sky = Sky()
    told = []
    for _ in range(100):
        sky.clock.advance(1)
        told += sky.flight.silence()
    assert told == [Waiting(10), Waiting(20), Waiting(40), Waiting(80)]


def test_a_sign_of_life_starts_the_silence_anew() -> None:
    sky = Sky()
    sky.clock.advance(25)
    assert sky.flight.silence() == [Waiting(25)]
    sky.hear(sessionUpdate="usage_update")
    sky.clock.advance(9)
    assert sky.flight.silence() == []
    sky.clock.advance(1)
    assert sky.flight.silence() == [Waiting(10)]


def test_the_first_event_has_its_own_limit_which_notices_do_not_extend() -> None:
    sky = Sky()
    sky.clock.advance(100)
    sky.hear(sessionUpdate="available_commands_update")
    sky.clock.advance(79)
    assert sky.failure() is None
    sky.clock.advance(1)
    failure = sky.failure()
    assert failure is not None
    assert failure.code is ErrorCode.TURN_FIRST_EVENT_TIMEOUT
    assert failure.session_lost


def test_after_the_first_event_silence_has_the_idle_limit() -> None:
    sky = Sky()
    sky.clock.advance(179)
    sky.say()
    sky.clock.advance(299)
    assert sky.failure() is None
    sky.clock.advance(1)
    failure = sky.failure()
    assert failure is not None
    assert failure.code is ErrorCode.TURN_IDLE_TIMEOUT
    assert failure.details == {"silentSeconds": 300}


def test_an_open_tool_call_may_be_silent_for_long() -> None:
    sky = Sky()
    sky.hear(sessionUpdate="tool_call", toolCallId="c", title="make test")
    sky.clock.advance(3599)
    assert sky.failure() is None
    sky.hear(sessionUpdate="tool_call_update", toolCallId="c", status="completed")
    sky.clock.advance(300)
    assert sky.failure() is not None


def test_an_agent_that_only_tries_its_model_again_is_given_up() -> None:
    sky = Sky()
    sky.say()
    for _ in range(30):
        sky.flight.arrived([Waiting(0, "Reconnecting")])
        assert sky.failure() is None
        assert sky.flight.given_up is None
        sky.clock.advance(10)
    assert sky.failure() is None
    given_up = sky.flight.given_up
    assert given_up is not None
    assert given_up.code is ErrorCode.TURN_IDLE_TIMEOUT
    assert "waited 300 s for its model" in given_up.message
    assert "“Reconnecting”" in given_up.message
    assert not given_up.session_lost
    ended = sky.flight.as_given_up(TurnCancelled("Hel"))
    assert ended == replace(given_up, content="Hel")
    assert sky.flight.as_given_up(TurnCompleted()) == TurnCompleted()


def test_whatever_gets_on_ends_the_wait_for_the_model() -> None:
    sky = Sky()
    for _ in range(3):
        sky.flight.arrived([Waiting(0, "Reconnecting")])
        sky.clock.advance(299)
        sky.say()
    assert sky.failure() is None
    assert sky.flight.given_up is None


async def test_one_that_is_given_up_is_given_up_in_time() -> None:
    sky = Sky(clock=LeapingClock())
    sky.say()
    sky.flight.arrived([Waiting(0, "Reconnecting")])
    sky.clock.advance(297)
    sky.flight.arrived([Waiting(0, "Reconnecting")])
    sky.flight.take()
    sky.flight.changed.clear()
    await sky.flight.wait()
    assert sky.clock.waits == [3]


def test_one_that_is_given_up_and_does_not_stop_is_lost_for_the_same_reason() -> None:
    sky = Sky()
    sky.flight.arrived([Waiting(0, "Reconnecting")])
    sky.clock.advance(300)
    assert sky.failure() is None
    sky.flight.cancelling()
    sky.clock.advance(10)
    assert sky.failure() == replace(sky.flight.given_up, session_lost=True)  # type: ignore[type-var]


def test_a_slow_consumer_is_not_the_agents_silence() -> None:
    sky = Sky()
    sky.say()
    sky.flight.take()
    sky.clock.advance(1_000)
    sky.flight.handed_over()
    assert sky.failure() is None
    assert sky.flight.silence() == []
    sky.clock.advance(300)
    assert sky.failure() is not None


def test_a_cancel_has_its_own_limit_which_nothing_extends() -> None:
    sky = Sky()
    sky.say()
    sky.flight.cancelling()
    for _ in range(9):
        sky.clock.advance(1)
        sky.say()
        sky.flight.cancelling()
        assert sky.failure() is None
    sky.clock.advance(1)
    failure = sky.failure()
    assert failure is not None
    assert failure.code is ErrorCode.TURN_CANCEL_TIMEOUT
    assert failure.session_lost


def test_no_silence_is_told_while_a_cancel_is_under_way() -> None:
    sky = Sky()
    sky.flight.cancelling()
    sky.clock.advance(9)
    assert sky.flight.silence() == []


def test_an_answered_turn_lands_after_a_short_quiet() -> None:
    sky = Sky(settle_s=0.05)
    sky.say()
    sky.flight.answered()
    assert not sky.flight.is_landed
    sky.clock.advance(0.04)
    sky.hear(sessionUpdate="usage_update", used=1)
    sky.clock.advance(0.04)
    assert not sky.flight.is_landed
    sky.clock.advance(0.01)
    assert sky.flight.is_landed


def test_updates_without_end_do_not_hold_the_answer_back() -> None:
    sky = Sky(settle_s=0.05)
    sky.flight.answered()
    for _ in range(110):
        sky.clock.advance(0.01)
        sky.say()
    assert sky.flight.is_landed


def test_an_answered_turn_keeps_its_answer_when_the_process_dies() -> None:
    sky = Sky()
    sky.flight.answered()
    sky.flight.fail(TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "gone", session_lost=True))
    assert sky.flight.failure is None


def test_the_first_failure_counts() -> None:
    sky = Sky()
    sky.flight.fail(TurnFailed(ErrorCode.PROTOCOL_INVALID_MESSAGE, "first"))
    sky.flight.fail(TurnFailed(ErrorCode.SESSION_NOT_AVAILABLE, "second"))
    assert sky.flight.failure is not None
    assert sky.flight.failure.message == "first"


def test_the_queue_is_full_by_count_and_by_size() -> None:
    many, large, tools = Sky().flight, Sky().flight, Sky().flight
    many.arrived([ContentDelta("x")] * (flights.MAX_EVENTS - 1))
    before = many.is_full
    many.arrived([ContentDelta("x")])
    assert (before, many.is_full) == (False, True)
    large.arrived([ContentDelta("x" * flights.MAX_CHARS)])
    assert large.is_full
    diff = {"type": "diff", "path": "/a", "newText": "y" * flights.MAX_CHARS}
    tools.arrived([ToolProgress(ToolCall("c", content=(diff,)), "updated")])
    assert tools.is_full
    assert len(many.take()) == flights.MAX_EVENTS
    assert [many.is_full, large.is_full, tools.is_full] == [False, True, True]


def test_what_nobody_consumes_is_dropped() -> None:
    flight = Sky().flight
    flight.arrived([ContentDelta("x" * flights.MAX_CHARS)])
    flight.discard()
    flight.arrived([ContentDelta("y")])
    assert not flight.is_full
    assert flight.take() == []


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (lambda sky: None, 10),
        (lambda sky: sky.flight.cancelling(), 10),
        (lambda sky: sky.flight.answered(), 0.05),
    ],
)
async def test_it_waits_for_whatever_comes_next(prepare: Any, expected: float) -> None:
    sky = Sky()
    prepare(sky)
    sky.flight.changed.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(sky.flight.wait())
        await asyncio.sleep(0)
        assert sky.clock.waits == [pytest.approx(expected)]
        sky.clock.advance(expected)
        await task
