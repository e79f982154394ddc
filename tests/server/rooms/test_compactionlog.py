"""Everybody sees who sums a room up and how far it is; a death in the middle is told as that."""

from __future__ import annotations

import asyncio
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ContentDelta, TurnCompleted, TurnFailed
from groupx_server.ledger.summaries import active_summary
from groupx_server.rooms import compaction
from groupx_server.rooms.clock import Clock
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.context import CompactContext, CompactionInfo
from support.fake_driver import Script
from support.rooms import House, house

SMALL = Limits(context_characters=20_000)
SUMMED = "- The port is 4310."
WROTE: Final[Script] = [ContentDelta(SUMMED), TurnCompleted(stop_reason="end_turn")]
FAILED: Final[Script] = [TurnFailed(ErrorCode.PROTOCOL_INVALID_MESSAGE, "no luck")]
UNABLE: Final[Script] = [
    ContentDelta("There is no model here."),
    TurnCompleted(stop_reason="refusal"),
]
KIND = "context.compaction."


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "FIRST_PAUSE_S", 0.0)


async def _talk(rooms: House, count: int = 20) -> None:
    for number in range(count):
        await rooms.send(f"message {number} " + "x" * 1_000, to=[])


def _told(rooms: House) -> list[dict[str, Any]]:
    return [e["body"] for e in rooms.listener.events if e["type"].startswith(KIND)]


async def _state(rooms: House) -> CompactionInfo:
    usage = await rooms.service.contexts.usage("room:main")
    assert usage.compaction is not None
    return usage.compaction


async def _asked_for(rooms: House, keep: int = 2, command: str = "compact") -> None:
    request = CompactContext(client_command_id=command, keep=keep)
    assert (await rooms.service.contexts.compact("room:main", request)).accepted


async def _phase(rooms: House, phase: str) -> None:
    await rooms.listener.until(lambda: [b["phase"] for b in _told(rooms)][-1:] == [phase])


async def test_it_is_told_who_is_asked_and_what_took_the_place_of_what(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", FAILED)
        rooms.fleet.plan("b", WROTE)
        await _asked_for(rooms)
        await _phase(rooms, "completed")
        asked = [b.get("generatorActorId") for b in _told(rooms)]
        assert [who for who, _ in groupby(asked)] == [None, "agent:a", "agent:b"]
        steps = [step for step, _ in groupby(b["step"] for b in _told(rooms))]
        assert steps == ["days", "summary"]
        info = await _state(rooms)
        assert (info.cause, info.part, info.parts, info.kept_parts) == ("asked", 1, 1, 1)
        assert (info.message_count, info.summary_characters) == (18, len(SUMMED))
        assert info.source_characters > 18 * 1_000
        assert info.started_at is not None
        assert info.ended_at is not None


async def test_a_long_room_is_told_part_by_part_and_ends_once(tmp_path: Path) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        await _talk(rooms, 80)
        rooms.fleet.plan("a", *[WROTE] * 5)
        await _asked_for(rooms)
        await _phase(rooms, "completed")
        parts = [(b["part"], b["parts"]) for b in _told(rooms) if b["phase"] == "started"]
        assert [part for part, _ in groupby(parts)] == [(1, 3), (2, 3), (3, 3)]
        assert [b["phase"] for b in _told(rooms)].count("completed") == 1
        info = await _state(rooms)
        assert (info.message_count, info.kept_parts) == (78, 3)


async def test_after_the_death_of_the_server_it_is_interrupted_and_can_be_done_again(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", [asyncio.Event()])
        await _asked_for(rooms)
        await rooms.listener.until(
            lambda: _told(rooms)[-1:] != [] and "generatorActorId" in _told(rooms)[-1]
        )
    async with house(tmp_path) as rooms:
        info = await _state(rooms)
        assert (info.phase, info.error_code) == ("interrupted", "TURN_INTERRUPTED")
        assert "Nothing was kept" in (info.error_message or "")
        assert await rooms.ledger.read(lambda book: active_summary(book, "room:main")) is None
        rooms.fleet.plan("a", WROTE)
        await _asked_for(rooms, command="again")
        await _phase(rooms, "completed")
        assert (await _state(rooms)).phase == "completed"


async def test_parts_that_were_kept_before_the_death_are_named_and_stay(tmp_path: Path) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        await _talk(rooms, 80)
        rooms.fleet.plan("a", WROTE, [asyncio.Event()])
        await _asked_for(rooms)
        await rooms.listener.until(
            lambda: any(b["part"] == 2 and b["step"] == "summary" for b in _told(rooms))
        )
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        info = await _state(rooms)
        assert info.phase == "interrupted"
        assert "1 of 3 parts were kept" in (info.error_message or "")
        assert await rooms.ledger.read(lambda book: active_summary(book, "room:main")) is not None


async def test_the_pause_after_a_failure_holds_over_a_restart_but_not_against_a_person(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        rooms.runtime.clock = Clock(now=lambda: "2026-02-01T10:00:00.000Z")
        await _talk(rooms)
        rooms.fleet.plan("a", FAILED)
        assert (await rooms.ended(await rooms.send("now?"))).status == "failed"
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        rooms.commands = 100
        rooms.runtime.clock = Clock(now=lambda: "2026-02-01T10:00:05.000Z")
        turn = await rooms.ended(await rooms.send("now?"))
        assert (turn.status, turn.error_code) == ("failed", "CONTEXT_BUDGET_EXCEEDED")
        assert "no luck" in (turn.error_message or "")
        assert "from 10:00:15 UTC on" in (turn.error_message or "")
        assert rooms.fleet.prompts == []  # nobody was asked
        rooms.fleet.plan("a", WROTE)
        await _asked_for(rooms, keep=4)
        await _phase(rooms, "completed")
        assert (await rooms.ended(await rooms.send("now?"))).status == "completed"


async def test_where_nobody_writes_agents_are_not_asked_for_each_turn(tmp_path: Path) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        rooms.fleet.plan("a", UNABLE)
        for _ in range(2):
            await _talk(rooms)
            turn = await rooms.ended(await rooms.send("now?"))
            assert turn.status == "completed"
        asked = ["checkpoint summary" in prompt for prompt in rooms.fleet.prompts]
        assert asked == [True, False, False]
        assert "omitted_older=" in rooms.fleet.prompts[-1]
        assert (await _state(rooms)).has_no_writer


async def test_a_turn_that_is_cancelled_meanwhile_ends_the_summing_up_that_it_waits_for(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, names=("a",), limits=SMALL) as rooms:
        await _talk(rooms)
        rooms.fleet.plan("a", [asyncio.Event()])
        sent = await rooms.send("now?")
        await rooms.listener.until(lambda: _asks(rooms))
        await rooms.service.cancel_turn(sent.turns[0].turn_id, "x")
        assert (await rooms.ended(sent)).status == "cancelled"
        await rooms.listener.until(lambda: [b["phase"] for b in _told(rooms)][-1] == "interrupted")
        rooms.fleet.plan("a", WROTE)
        assert (await rooms.ended(await rooms.send("and now?"))).status == "completed"
        cards = {card.actor_id: card for card in (await rooms.service.agents()).agents}
        assert cards["agent:a"].queued_turns == 0


def _asks(rooms: House) -> bool:
    return any("generatorActorId" in body for body in _told(rooms))
