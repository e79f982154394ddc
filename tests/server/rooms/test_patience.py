"""A disk that fails in the middle of a turn: nothing is lost or sent twice, and all goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from groupx_server.domain.native import ContentDelta, ReasoningDelta, TurnCompleted
from groupx_server.ledger import upkeep
from groupx_server.ledger.turns import read_turn
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms import lane, patience, turnrunner
from groupx_shared.errors import LedgerDiskError
from support.faulty_disk import FaultyDisk
from support.ledgers import opened
from support.rooms import House, house

LIMIT_S = 20.0
STEPS = ["session", "claim", "native_started", "partial", "terminal"]
"""The commits of a turn whose answer comes in two pieces."""


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(turnrunner, "PARTIAL_EVERY_S", 0.01)
    monkeypatch.setattr(turnrunner, "END_WITHIN_S", 0.05)
    monkeypatch.setattr(lane, "CLOSE_WITHIN_S", 0.05)
    monkeypatch.setattr(upkeep, "PROBE_S", LIMIT_S)  # or the probe's commits are counted too
    return FaultyDisk(monkeypatch)


def two_pieces(rooms: House, begins: asyncio.Event | None = None) -> asyncio.Event:
    """Let the next turn start, wait for `begins`, answer "do", wait for the event that is
    returned, and answer "ne"."""
    goes_on = asyncio.Event()
    script: list[Any] = [ContentDelta("do"), goes_on, ContentDelta("ne"), TurnCompleted()]
    if begins is not None:
        script.insert(0, begins)
    rooms.fleet.scripts.append([ReasoningDelta("hm"), *script])
    return goes_on


@pytest.mark.parametrize("error", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_disk_that_fails_for_a_while_at_any_step_costs_the_turn_only_time(
    tmp_path: Path, disk: FaultyDisk, step: str, error: str
) -> None:
    async with house(tmp_path) as rooms, asyncio.timeout(LIMIT_S):
        begins = asyncio.Event()
        goes_on = two_pieces(rooms, begins)
        accepted = await rooms.send()
        disk.plan(STEPS.index(step), 3, error)
        # Else the first text could go into the commit that tells of the start.
        await rooms.turn_in(accepted.turns[0].turn_id, "running")
        begins.set()
        await disk.tried(STEPS.index("terminal") + (0 if step == "terminal" else 3))
        goes_on.set()
        turn = await rooms.ended(accepted)
        assert (turn.status, turn.content, turn.attempts) == ("completed", "done", 1)
        assert len(rooms.fleet.prompts) == 1
        assert (await rooms.ended(await rooms.send("again"))).status == "completed"
        assert await rooms.ledger.read(find_violations) == []


async def test_turns_that_wait_behind_a_broken_disk_are_all_done_when_it_heals(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with house(tmp_path) as rooms, asyncio.timeout(LIMIT_S):
        goes_on = two_pieces(rooms)
        accepted = [await rooms.send(f"number {number}") for number in range(4)]
        await rooms.turn_in(accepted[0].turns[0].turn_id, "running")
        disk.plan(0, 6, "SQLITE_FULL")
        disk.write_error = disk.read_error = "SQLITE_FULL"
        goes_on.set()
        await disk.tried(4)
        disk.write_error = disk.read_error = None
        turns = [await rooms.ended(each) for each in accepted]
        assert [turn.status for turn in turns] == ["completed"] * 4
        assert [prompt.count("number 3") for prompt in rooms.fleet.prompts] == [0, 0, 0, 1]
        assert await rooms.ledger.read(find_violations) == []


async def test_a_person_is_refused_at_once_with_the_reason_and_nothing_is_kept(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with house(tmp_path) as rooms:
        disk.write_error = "SQLITE_FULL"
        with pytest.raises(LedgerDiskError, match="The disk is full"):
            await rooms.send("refused")
        disk.write_error = None
        assert await rooms.types() == []
        assert rooms.fleet.prompts == []


async def test_a_stop_while_the_disk_is_broken_ends_and_the_next_start_settles_the_turn(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with asyncio.timeout(LIMIT_S):
        async with house(tmp_path) as rooms:
            two_pieces(rooms)
            accepted = await rooms.send()
            waiting = await rooms.send("waits")
            turn_id = accepted.turns[0].turn_id
            await rooms.turn_in(turn_id, "running")
            disk.write_error = "SQLITE_IOERR_WRITE"
        disk.write_error = None
        with opened(tmp_path / "groupx.db") as book:
            assert read_turn(book, turn_id).status == "running"
        async with house(tmp_path, fleet=rooms.fleet) as again:
            assert (await again.turn_in(turn_id)).status == "interrupted"
            assert (await again.ended(waiting)).status == "completed"
            assert len(rooms.fleet.prompts) == 2
            assert await again.ledger.read(find_violations) == []


async def test_a_stop_between_the_tries_of_an_end_is_not_held_up(
    tmp_path: Path, disk: FaultyDisk
) -> None:
    async with asyncio.timeout(LIMIT_S):
        async with house(tmp_path) as rooms:
            goes_on = two_pieces(rooms)
            accepted = await rooms.send()
            await rooms.turn_in(accepted.turns[0].turn_id, "running")
            disk.plan(0, 1_000, "SQLITE_FULL")
            goes_on.set()
            await disk.tried(4)
        disk.plan(0, 0, "SQLITE_FULL")
        async with house(tmp_path) as again:
            assert (await again.ended(accepted)).status == "interrupted"
