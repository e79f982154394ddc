"""Agents come, go and change while turns run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.agents.base import AgentInfo, AgentSpec, Driver
from groupx_server.domain.native import ContentDelta, TurnCompleted
from groupx_server.ledger.startup import RosterRow, take_roster
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_shared.errors import ErrorCode, RefusedError
from support.fake_driver import FakeDriver, FakeFleet, fake_spec
from support.rooms import NOW, House, house


def entry(name: str, **changes: object) -> RosterEntry:
    made = RosterEntry(f"agent:{name}", name.upper(), "fake", None, True, fake_spec(name))
    return replace(made, **changes)  # type: ignore[arg-type]


async def take(rooms: House, *entries: RosterEntry) -> None:
    """What a reload does: rows first, then the agents."""
    rows = [RosterRow(each.actor_id, each.display_name, each.enabled) for each in entries]
    await rooms.ledger.write(lambda book: take_roster(book, rows, NOW))
    rooms.agents.replace(Roster(list(entries), entries[0].actor_id if entries else None))


async def test_an_agent_is_added_while_another_one_streams(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append(
            [ContentDelta("one "), gate, ContentDelta("two"), TurnCompleted()]
        )
        streaming = await rooms.send(to=["a"])
        await rooms.turn_in(streaming.turns[0].turn_id, "running")
        await take(rooms, entry("a"), entry("b"))
        assert (await rooms.ended(await rooms.send(to=["b"]))).status == "completed"
        gate.set()
        turn = await rooms.ended(streaming)
        assert (turn.status, turn.content) == ("completed", "one two")
        assert rooms.fleet.starts == 2
        assert await rooms.ledger.read(find_violations) == []


async def test_a_busy_agent_that_is_removed_ends_its_turn_and_what_was_queued_is_ended(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("mine"), gate, TurnCompleted()])
        running = await rooms.send(to=["a"])
        await rooms.turn_in(running.turns[0].turn_id, "running")
        queued = await rooms.send(to=["a"])
        await take(rooms, entry("b"))
        with pytest.raises(RefusedError) as refused:
            await rooms.send(to=["a"])
        assert refused.value.code is ErrorCode.UNKNOWN_TARGET
        assert [card.actor_id for card in rooms.agents.board.all()] == ["agent:b", "agent:a"]
        gate.set()
        assert (await rooms.ended(running)).content == "mine"
        ended = await rooms.ended(queued)
        assert (ended.status, ended.error_code) == ("failed", "AGENT_DISABLED")
        assert ended.delivery_certainty != "unknown"
        assert len(rooms.fleet.prompts) == 1
        assert await rooms.ledger.read(find_violations) == []


async def test_a_changed_agent_ends_its_turn_and_serves_the_queue_with_a_new_program(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("old"), gate, TurnCompleted()])
        running = await rooms.send(to=["a"])
        await rooms.turn_in(running.turns[0].turn_id, "running")
        queued = await rooms.send(to=["a"])
        other = replace(fake_spec("a"), env={"KEY": "new"})
        await take(rooms, entry("a", spec=other))
        assert rooms.agents.busy(["agent:a"]) == ["agent:a"]
        gate.set()
        assert (await rooms.ended(running)).content == "old"
        assert (await rooms.ended(queued)).status == "completed"
        assert [driver.spec.env for driver in rooms.fleet.drivers] == [{}, {"KEY": "new"}]
        assert rooms.fleet.requests[-1].resume_native_id == "native-1-1"


async def test_a_new_name_needs_no_new_program(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        await rooms.ended(await rooms.send(to=["a"]))
        await take(rooms, entry("a", display_name="Ada", identity="You are Ada."))
        await rooms.ended(await rooms.send(to=["a"]))
        assert rooms.fleet.starts == 1
        assert "You are Ada." in rooms.fleet.prompts[-1]
        assert rooms.agents.board.all()[0].display_name == "Ada"


async def test_an_agent_whose_start_hangs_is_changed_at_once(tmp_path: Path) -> None:
    fleet = HangingFleet()
    async with house(tmp_path, ("a",), fleet=fleet) as rooms:
        waiting = await rooms.send(to=["a"])
        await asyncio.wait_for(fleet.is_starting.wait(), 5)
        assert rooms.agents.busy(["agent:a"]) == []
        await take(rooms, entry("a", spec=replace(fake_spec("a"), env={"OK": "1"})))
        assert (await rooms.ended(waiting)).status == "completed"
        assert "session.failed" not in await rooms.types()


async def test_a_disabled_agent_stays_listed_and_can_be_enabled_again(tmp_path: Path) -> None:
    async with house(tmp_path, ("a", "b")) as rooms:
        await rooms.ended(await rooms.send(to=["a"]))
        await take(rooms, entry("a", enabled=False), entry("b"))
        await rooms.listener.until(lambda: rooms.agents.board.all()[0].status == "disabled")
        with pytest.raises(RefusedError) as refused:
            await rooms.send(to=["a"])
        assert refused.value.code is ErrorCode.AGENT_DISABLED
        await take(rooms, entry("a"), entry("b"))
        assert (await rooms.ended(await rooms.send(to=["a"]))).status == "completed"


async def test_the_same_roster_again_changes_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        await rooms.ended(await rooms.send(to=["a"]))
        for _ in range(3):
            await take(rooms, entry("a"))
        await rooms.ended(await rooms.send(to=["a"]))
        assert (rooms.fleet.starts, len(rooms.fleet.drivers)) == (1, 1)


async def test_removed_and_added_again_while_its_turn_runs(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("x"), gate, TurnCompleted()])
        running = await rooms.send(to=["a"])
        await rooms.turn_in(running.turns[0].turn_id, "running")
        await take(rooms, entry("b"))
        await take(rooms, entry("a"), entry("b"))
        queued = await rooms.send(to=["a"])
        gate.set()
        assert (await rooms.ended(running)).status == "completed"
        assert (await rooms.ended(queued)).status == "completed"


async def test_a_turn_that_waits_for_nobody_is_ended_at_the_start(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        gate = asyncio.Event()
        rooms.fleet.scripts.append([ContentDelta("x"), gate])
        running = await rooms.send(to=["a"])
        await rooms.turn_in(running.turns[0].turn_id, "running")
        queued = await rooms.send(to=["a"])
    async with house(tmp_path, ("b",)) as rooms:
        ended = await rooms.ended(queued)
        assert ended.error_code == ErrorCode.ADAPTER_NOT_FOUND


async def test_a_stop_in_the_middle_of_a_change_loses_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        rooms.fleet.scripts.append([ContentDelta("x"), asyncio.Event()])
        running = await rooms.send(to=["a"])
        await rooms.turn_in(running.turns[0].turn_id, "running")
        queued = await rooms.send(to=["a"])
        await take(rooms, entry("a", spec=replace(fake_spec("a"), env={"K": "1"})))
    async with house(tmp_path, ("a",)) as rooms:
        assert (await rooms.ended(running)).status == "interrupted"
        assert (await rooms.ended(queued)).status == "completed"
        assert await rooms.ledger.read(find_violations) == []


async def test_after_the_stop_no_roster_is_taken(tmp_path: Path) -> None:
    async with house(tmp_path, ("a",)) as rooms:
        agents = rooms.agents
    with pytest.raises(RefusedError) as refused:
        agents.replace(Roster([entry("a")], None))
    assert refused.value.code is ErrorCode.SHUTTING_DOWN


class HangingDriver(FakeDriver):
    async def start(self) -> AgentInfo:
        assert isinstance(self._fleet, HangingFleet)
        if not self.spec.env:
            self._fleet.is_starting.set()
            await asyncio.Event().wait()
        return await super().start()


class HangingFleet(FakeFleet):
    """A program without environment never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.is_starting = asyncio.Event()

    def __call__(self, spec: AgentSpec) -> Driver:
        return HangingDriver(spec, self)
