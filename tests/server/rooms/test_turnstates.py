"""A reader that comes while a turn runs is told how it stands, once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from groupx_server.rooms.broadcast import Hub, Subscription
from groupx_server.rooms.turnstates import TurnStates, turn_state_key
from groupx_shared.wire.sse import SseParser
from support.asgi_bridge import WAIT_S
from support.fake_rooms import FakeLedger

PLAN, TOOL = turn_state_key("t1", "plan"), turn_state_key("t1", "tool:c")


def test_the_latest_of_each_is_kept_in_the_order_in_which_they_began() -> None:
    states = TurnStates()
    states.note(TOOL, "room:a", b"runs")
    states.note(PLAN, "room:a", b"plan 1")
    states.note(TOOL, "room:a", b"done")
    states.note(turn_state_key("t2", "plan"), "room:b", b"other")
    assert states.of_room("room:a") == [b"done", b"plan 1"]
    assert states.of_room(None) == [b"done", b"plan 1", b"other"]


def test_other_live_events_are_not_kept() -> None:
    states = TurnStates()
    states.note(None, "room:a", b"text")
    states.note("agent:a", None, b"status")
    assert states.of_room(None) == []


def test_of_a_turn_that_has_ended_nothing_is_told() -> None:
    states = TurnStates()
    states.note(PLAN, "room:a", b"plan")
    states.note(turn_state_key("t10", "plan"), "room:a", b"another turn's")
    states.forget_turn("t1")
    assert states.of_room(None) == [b"another turn's"]


def test_they_are_bounded_and_the_oldest_go() -> None:
    states = TurnStates(max_bytes=10)
    for number in range(5):
        states.note(turn_state_key("t", f"tool:{number}"), "room:a", b"1234")
    assert states.of_room(None) == [b"1234", b"1234"]
    states.note(turn_state_key("t", "huge"), "room:a", b"x" * 11)
    assert states.of_room(None) == []
    states.note(PLAN, "room:a", b"x" * 10)
    assert states.of_room(None) == [b"x" * 10]
    states.clear()
    assert states.of_room(None) == []


@asynccontextmanager
async def running(ledger: FakeLedger) -> AsyncIterator[Hub]:
    hub = Hub(ledger, ledger)
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        yield hub
        hub.close()


async def told(subscription: Subscription, *, until: str) -> list[str]:
    """The frames up to one, by their `seq` (live ones have a text there)."""
    parser, found = SseParser(), list[str]()
    async with asyncio.timeout(WAIT_S):
        while until not in found:
            frames = parser.feed(await anext(subscription))
            found += [str(json.loads(frame.data)["seq"]) for frame in frames]
    return found


async def test_a_reader_that_comes_later_is_told_once() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        hub.publish_transient(b'{"seq":"plan"}', "room:main", PLAN)
        with hub.subscribe(0) as subscription:
            assert await told(subscription, until="plan") == ["plan"]
            ledger.commit(2)
            assert await told(subscription, until="2") == ["1", "2"]
        with hub.subscribe(0, "room:other") as elsewhere:
            ledger.commit(room_id="room:other")
            assert "plan" not in await told(elsewhere, until="3")


async def test_a_reader_that_is_behind_is_told_when_it_is_not_any_more() -> None:
    ledger = FakeLedger()
    ledger.commit(3)
    async with running(ledger) as hub:
        hub.publish_transient(b'{"seq":"plan"}', "room:main", PLAN)
        with hub.subscribe(0) as behind:
            assert await told(behind, until="plan") == ["1", "2", "3", "plan"]


async def test_a_reader_that_comes_after_the_end_is_told_nothing() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        hub.publish_transient(b'{"seq":"plan"}', "room:main", PLAN)
        hub.turn_ended("t1")
        with hub.subscribe(0) as subscription:
            ledger.commit()
            assert await told(subscription, until="1") == ["1"]


async def test_what_was_removed_for_good_is_not_told() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        hub.publish_transient(b'{"seq":"plan"}', "room:main", PLAN)
        hub.forget_frames()
        with hub.subscribe(0) as subscription:
            ledger.commit()
            assert await told(subscription, until="1") == ["1"]
