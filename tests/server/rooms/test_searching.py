"""Search as a use case: what was answered before is found, and the index follows by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.ledger.accept import Source
from groupx_server.ledger.search import Filters
from groupx_server.ledger.searchindex import backlog
from groupx_server.rooms import searching
from groupx_server.rooms.searching import moment_of
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import RememberMemory, ScopeRequest
from groupx_shared.wire.requests import CommandRequest
from support.rooms import House, house

ANYWHERE = Filters()
WITHIN_S = 5.0


async def _ids(rooms: House, text: str, filters: Filters = ANYWHERE) -> list[str]:
    return [hit.id for hit in (await rooms.service.searching.find(text, filters, None, 20)).hits]


async def test_what_was_accepted_is_found_by_the_next_call(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        for number in range(20):
            accepted = await rooms.send(f"rare{number} word", to=[])
            assert (await _ids(rooms, f"rare{number}"))[0] == accepted.message_event_id


async def test_what_was_taken_back_is_not_found_by_the_next_call(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        request = RememberMemory(
            client_command_id="m",
            scope=ScopeRequest(type="room", id="room:main"),
            kind="fact",
            content="the port is 4310",
        )
        memory = (await rooms.service.memories.remember(request, Source())).memory
        assert await _ids(rooms, "port") == [memory.memory_id]
        taken = CommandRequest(client_command_id="r")
        await rooms.service.memories.retract(memory.memory_id, taken, Source())
        assert await _ids(rooms, "port") == []


async def test_a_hit_has_a_snippet_with_marks(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        await rooms.send("the gateway listens on port 4310", to=[])
        reply = await rooms.service.searching.find("ports", ANYWHERE, None, 20)
        (hit,) = reply.hits
        assert [hit.snippet[start:end] for start, end in hit.marks] == ["port"]
        assert (hit.kind, hit.room_id, hit.actor_id) == ("message", "room:main", "user:web")
        assert reply.behind == 0


async def test_the_index_follows_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "GATHER_S", 0.0)
    async with house(tmp_path) as rooms, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(rooms.service.searching.run())
        await rooms.send("hello", to=[])
        async with asyncio.timeout(WITHIN_S):
            left = await rooms.ledger.read(backlog)
            while not left.is_empty:
                left = await rooms.ledger.read(backlog)
        running.cancel()


async def test_a_rebuild_finds_the_same(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        accepted = await rooms.send("needle", to=[])
        assert await _ids(rooms, "needle") == [accepted.message_event_id]
        reply = await rooms.service.searching.rebuild("x")
        assert reply.behind > 0
        assert await rooms.service.searching.rebuild("x") == reply
        assert await _ids(rooms, "needle") == [accepted.message_event_id]


async def test_an_unknown_room_is_refused(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        with pytest.raises(RefusedError) as refused:
            await _ids(rooms, "x", Filters(room_id="room:nowhere"))
        assert refused.value.code == ErrorCode.UNKNOWN_ROOM


def test_days_and_times_are_read() -> None:
    assert moment_of("2026-01-31", "since") == "2026-01-31T00:00:00.000Z"
    assert moment_of("2026-01-31", "until", is_end=True) == "2026-01-31T23:59:59.999Z"
    assert moment_of("2026-01-31T10:00:00+02:00", "until") == "2026-01-31T08:00:00.000Z"
    with pytest.raises(RefusedError, match="since"):
        moment_of("yesterday", "since")
