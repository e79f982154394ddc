"""Agents write down their own days, in sessions of their own; small talk costs nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_server.ledger.memory import list_memory
from groupx_server.rooms import dated
from groupx_server.rooms.clock import Clock
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.context import CompactContext
from groupx_shared.wire.requests import SendMessage, Supervision
from support.rooms import House, house

TOMORROW = "2100-01-01T00:00:00.000Z"
LONG = "please " * 200


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dated, "FIRST_PAUSE_S", 0.0)


def _wrote(text: str, stop_reason: str = "end_turn") -> list[Any]:
    return [ContentDelta(text), TurnCompleted(stop_reason=stop_reason, usage={"totalTokens": 7})]


async def _kept(rooms: House) -> list[str]:
    filters = {"scope_type": "agent", "agent_memory_type": "dated"}
    found = await rooms.ledger.read(lambda book: list_memory(book, filters))
    return [record.content for record in found.items]


async def _tomorrow(rooms: House) -> None:
    rooms.runtime.clock = Clock(now=lambda: TOMORROW)
    await rooms.service.diaries.write_due()


async def test_a_day_that_is_over_is_written_down_by_the_agent_itself(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("b", _wrote("not mine"))
        rooms.fleet.plan("a", _wrote("- asked politely"))
        await _tomorrow(rooms)
        assert await _kept(rooms) == ["- asked politely"]
        assert "please please" in rooms.fleet.prompts[-1]
        request = rooms.fleet.requests[-1]
        assert (request.mcp, request.resume_native_id) == (None, None)
        await _tomorrow(rooms)
        assert len(rooms.fleet.prompts) == 2  # once
        [event] = await rooms.events("memory.remembered")
        assert event["body"]["usage"] == {"totalTokens": 7}
        usage = await rooms.service.usage("room:main", None, None)
        [day] = (await rooms.service.contexts.days(None, "agent:a", 10)).days
        assert (day.turns, day.waiting_turns, day.characters) == (1, 0, len("- asked politely"))
        assert (await rooms.service.contexts.days("room:none", None, 10)).days == ()
        [cost] = usage.upkeep
        assert (cost.key, cost.turns, cost.total_tokens) == ("dated", 1, 7)
        assert usage.totals.turns == 1


async def test_small_talk_is_never_asked_about(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send("hello"))
        await _tomorrow(rooms)
        assert len(rooms.fleet.prompts) == 1
        assert await _kept(rooms) == []


async def test_nothing_worth_keeping_makes_no_record(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("a", _wrote("GROUPX_NO_DATED_MEMORY"))
        await _tomorrow(rooms)
        await _tomorrow(rooms)
        assert (await _kept(rooms), len(rooms.fleet.prompts)) == ([], 2)


async def test_an_agent_that_has_it_switched_off_is_not_asked(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        roster = rooms.agents.roster
        roster.entries["agent:a"] = replace(roster.entries["agent:a"], has_dated_memory=False)
        await _tomorrow(rooms)
        assert (await _kept(rooms), len(rooms.fleet.prompts)) == ([], 1)


async def test_what_an_observer_said_goes_into_no_day(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        request = SendMessage(
            client_command_id="watched",
            content=LONG,
            to=["a"],
            supervision=Supervision(observers=["b"]),
        )
        rooms.fleet.plan("b", [ContentDelta(LONG), TurnCompleted()])  # no small talk
        accepted = await rooms.service.send(request, rooms.person)
        assert accepted.supervision is not None
        (observer,) = accepted.supervision.observers
        assert (await rooms.turn_in(observer.turn_id)).status == "completed"
        assert (await rooms.ended(accepted)).status == "completed"
        for name in ("a", "b"):
            rooms.fleet.plan(name, _wrote(f"- the day of {name}"))
        await _tomorrow(rooms)
        assert await _kept(rooms) == ["- the day of a"]


@pytest.mark.parametrize(
    "script",
    [
        [TurnFailed(ErrorCode.PROTOCOL_INVALID_MESSAGE, "no luck")],
        _wrote("y" * 9_000),
        _wrote("  "),
    ],
    ids=["failed", "too long", "empty"],
)
async def test_what_fails_waits_and_is_tried_after_a_pause(
    tmp_path: Path, script: list[Any]
) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("a", script)
        await _tomorrow(rooms)
        await _tomorrow(rooms)  # within the pause
        assert (await _kept(rooms), len(rooms.fleet.prompts)) == ([], 2)
        [day] = (await rooms.service.contexts.days(None, None, 10)).days
        assert (day.memory_id, day.waiting_turns, day.failures) == (None, 1, 1)
        assert (day.next_attempt_at or "") > TOMORROW
        rooms.runtime.clock = Clock(now=lambda: "2100-01-01T00:02:00.000Z")
        rooms.fleet.plan("a", _wrote("- at last"))
        await rooms.service.diaries.write_due()
        assert await _kept(rooms) == ["- at last"]


async def test_a_moments_trouble_is_tried_again_at_once(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("a", [TurnFailed(ErrorCode.TURN_IDLE_TIMEOUT, "slow")])
        rooms.fleet.plan("a", _wrote("- second try"))
        await _tomorrow(rooms)
        assert await _kept(rooms) == ["- second try"]


async def test_a_day_is_written_down_before_the_room_is_summed_up(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("a", _wrote("- of the day"))
        rooms.fleet.plan("a", _wrote("- of the room"))
        request = CompactContext(client_command_id="c", keep=0)
        await rooms.service.contexts.compact("room:main", request)
        done = "context.compaction.completed"
        await rooms.listener.until(lambda: bool(rooms.listener.bodies(done)))
        assert await _kept(rooms) == ["- of the day"]


async def test_the_agent_is_told_its_days_with_their_label(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.ended(await rooms.send(LONG))
        rooms.fleet.plan("a", _wrote("- asked politely"))
        await _tomorrow(rooms)
        shown = await rooms.service.contexts.preview("room:main", "a", None, "")
        assert "[agent_dated_memory" in shown.text
        assert "source=generated-summary" in shown.text
        other = await rooms.service.contexts.preview("room:main", "b", None, "")
        assert "asked politely" not in other.text
