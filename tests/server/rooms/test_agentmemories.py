"""What agents remember: whose it is follows from their binding, and nobody sees another's own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groupx_server.ledger.callers import Caller
from groupx_server.ledger.ownrecords import Wanted
from groupx_server.ledger.verify import find_violations
from groupx_server.rooms.agentmemories import Note
from groupx_server.rooms.recordpages import RECORD_CHARS
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import RememberMemory, ScopeRequest
from groupx_shared.wire.requests import CommandRequest, CreateRoom
from support.rooms import House, house

ALL = Wanted()


def note(text: str, number: str = "1", kind: str = "fact", **more: str) -> Note:
    return Note(number, kind, text, **more)


async def seen(rooms: House, caller: Caller, wanted: Wanted = ALL) -> list[str]:
    return [item.content for item in (await rooms.memories.search(caller, wanted)).items]


async def refused(code: ErrorCode, call: object) -> None:
    with pytest.raises(RefusedError) as found:
        await call  # type: ignore[misc]
    assert found.value.code is code


async def test_a_rooms_memory_is_everybodys_and_an_agents_own_is_its_own(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a, b = await rooms.at_work("a"), await rooms.at_work("b")
        await rooms.memories.remember(a, note("The door is blue."))
        await rooms.memories.remember_own(a, note("I work at night.", "2"))
        assert set(await seen(rooms, a)) == {"I work at night.", "The door is blue."}
        assert await seen(rooms, b) == ["The door is blue."]
        for words in ("night", "work at night"):
            assert await seen(rooms, b, Wanted(query=words)) == []
            assert await seen(rooms, a, Wanted(query=words)) == ["I work at night."]
        own = await rooms.memories.search(a, Wanted(filters={"scope_type": "agent"}))
        (item,) = own.items
        assert (item.scope, item.agent_memory_type) == ("agent", "core")
        assert item.provenance == f"{item.memory_id} by agent:a “A” (an agent, not a person)"
        await refused(ErrorCode.UNKNOWN_MEMORY, rooms.memories.read(b, item.memory_id, 0))
        assert await rooms.ledger.read(find_violations) == []


async def test_memory_of_the_root_is_seen_by_those_who_work_for_it(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a, b = await rooms.at_work("a"), await rooms.at_work("b")
        [first, _] = await rooms.events("message.created")
        request = RememberMemory(
            client_command_id="m",
            scope=ScopeRequest(type="correlation", id=first["correlationId"]),
            kind="fact",
            content="The gate is blue.",
        )
        kept = (await rooms.service.memories.remember(request, rooms.person)).memory
        for wanted in (ALL, Wanted(query="gate"), Wanted(query="blue", filters={"kind": "fact"})):
            [item] = (await rooms.memories.search(a, wanted)).items
            assert (item.scope, item.content) == ("correlation", "The gate is blue.")
            assert await seen(rooms, b, wanted) == []
        assert (await rooms.memories.read(a, kept.memory_id, 4)).items[0].content == "gate is blue."
        await refused(ErrorCode.UNKNOWN_MEMORY, rooms.memories.read(b, kept.memory_id, 0))


async def test_what_another_room_remembers_is_not_seen(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        await rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
        b = await rooms.at_work("b", room_id="room:side")
        kept = await rooms.memories.remember(b, note("The secret is here."))
        assert await seen(rooms, a) == []
        assert await seen(rooms, a, Wanted(query="secret")) == []
        await refused(ErrorCode.UNKNOWN_MEMORY, rooms.memories.read(a, kept.memory.memory_id, 0))


async def test_the_same_note_twice_is_kept_once_and_other_words_are_refused(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        first = await rooms.memories.remember(a, note("Once."))
        assert await rooms.memories.remember(a, note("Once.")) == first
        await refused(ErrorCode.CLIENT_COMMAND_CONFLICT, rooms.memories.remember(a, note("Twice.")))
        (event,) = await rooms.events("memory.remembered")
        assert event["actor"]["actorId"] == "agent:a"
        assert event["provenance"] == {"sourceKind": "mcp", "authorActorId": "agent:a"}


async def test_what_an_agent_remembers_belongs_to_the_work_in_which_it_did(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        await rooms.memories.remember(a, note("Of this work."))
        await rooms.memories.remember_identity(a, note("I say what I did.", "2", "note"))
        (asked,) = await rooms.events("message.created")
        for kind in ("memory.remembered", "identity.remembered"):
            (event,) = await rooms.events(kind)
            assert event["correlationId"] == asked["correlationId"]


async def test_a_source_must_be_an_event_of_this_room(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        await rooms.service.create_room(CreateRoom(client_command_id="r", title="side"))
        there = await rooms.send("elsewhere", [], room_id="room:side")
        for event_id in (there.message_event_id, "evt_none"):
            about = note("x", source_event_id=event_id)
            for call in (
                rooms.memories.remember(a, about),
                rooms.memories.remember_own(a, about),
                rooms.memories.remember_identity(a, about),
            ):
                await refused(ErrorCode.UNKNOWN_EVENT, call)
        here = await rooms.send("here", [])
        kept = await rooms.memories.remember(a, note("x", source_event_id=here.message_event_id))
        assert kept.memory.source_event_id == here.message_event_id


async def test_an_unknown_subject_is_refused_and_a_blank_or_long_text_too(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        about = note("x", subject_actor_id="agent:nobody")
        await refused(ErrorCode.UNKNOWN_ACTOR, rooms.memories.remember(a, about))
        await refused(ErrorCode.INVALID_ENVELOPE, rooms.memories.remember(a, note(" \n")))
        await refused(ErrorCode.MESSAGE_TOO_LARGE, rooms.memories.remember(a, note("x" * 131_073)))


async def test_a_list_goes_on_with_its_cursor_and_filters_hold(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        for number in range(5):
            kind = "decision" if number % 2 else "fact"
            await rooms.memories.remember(a, note(f"thing {number}", str(number), kind))
        found, cursor, pages = [], None, 0
        while pages == 0 or cursor is not None:
            page = await rooms.memories.search(a, Wanted(cursor=cursor, limit=2))
            found += [item.content for item in page.items]
            cursor, pages = page.next_cursor, pages + 1
        assert (sorted(found), pages) == ([f"thing {n}" for n in range(5)], 3)
        decisions = Wanted(filters={"kind": "decision"})
        assert set(await seen(rooms, a, decisions)) == {"thing 1", "thing 3"}
        assert set(await seen(rooms, a, Wanted(query="thing", filters={"kind": "decision"}))) == {
            "thing 1",
            "thing 3",
        }


async def test_long_texts_come_in_parts_and_a_result_has_a_bound(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        text = "".join(f"{number:07} " for number in range(5_000))
        ids = []
        for number in range(8):
            kept = await rooms.memories.remember(a, note(f"{number}{text}", str(number)))
            ids.append(kept.memory.memory_id)
        page = await rooms.memories.search(a, ALL)
        assert sum(len(item.content) for item in page.items) <= 24_000
        assert page.next_cursor is not None
        assert page.items[0].next_offset == RECORD_CHARS
        rest = await rooms.memories.search(a, Wanted(cursor=page.next_cursor))
        assert {item.memory_id for item in (*page.items, *rest.items)} == set(ids)
        (first,) = (await rooms.memories.read(a, ids[0], 0)).items
        (second,) = (await rooms.memories.read(a, ids[0], first.next_offset or 0)).items
        (third,) = (await rooms.memories.read(a, ids[0], second.next_offset or 0)).items
        assert first.content + second.content + third.content == f"0{text}"
        assert third.next_offset is None


async def test_what_was_taken_back_is_in_the_history_without_its_text(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        kept = await rooms.memories.remember(a, note("A mistake."))
        memory_id = kept.memory.memory_id
        await rooms.service.memories.retract(
            memory_id, CommandRequest(client_command_id="r"), rooms.person
        )
        assert await seen(rooms, a) == []
        (item,) = (await rooms.memories.search(a, Wanted(include_history=True))).items
        assert (item.status, item.content) == ("retracted", "")
        assert (await rooms.memories.read(a, memory_id, 0)).items[0].content == ""


async def test_identity_is_ones_own_word_and_only_ones_own_is_read(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a, b = await rooms.at_work("a"), await rooms.at_work("b")
        kept = await rooms.memories.remember_identity(a, note("I like tests.", kind="preference"))
        assert kept.identity.perspective == "self"
        page = await rooms.memories.identity(a, None, 10, include_history=False)
        assert [item.content for item in page.items] == ["I like tests."]
        assert (await rooms.memories.identity(b, None, 10, include_history=False)).items == ()
        identity_id = kept.identity.identity_id
        assert (await rooms.memories.identity_text(a, identity_id, 7)).items[0].content == "tests."
        await refused(ErrorCode.UNKNOWN_IDENTITY, rooms.memories.identity_text(b, identity_id, 0))
        (event,) = await rooms.events("identity.remembered")
        assert event["actor"]["actorId"] == "agent:a"


async def test_what_was_kept_is_in_the_agents_next_packet_and_in_no_other(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        await rooms.memories.remember_own(a, note("Only mine."))
        await rooms.memories.remember(a, note("For all.", "2"))
        rooms.gates["a"].set()
        await rooms.ended_in("a")
        for name, has_own in (("a", True), ("b", False)):
            await rooms.ended(await rooms.send("again", [name]))
            assert ("Only mine." in rooms.fleet.prompts[-1]) is has_own
            assert "For all." in rooms.fleet.prompts[-1]


async def test_nothing_is_kept_or_seen_without_a_running_turn(tmp_path: Path) -> None:
    async with house(tmp_path) as rooms:
        a = await rooms.at_work("a")
        rooms.gates["a"].set()
        await rooms.ended_in("a")
        for call in (
            rooms.memories.search(a, ALL),
            rooms.memories.read(a, "mem_1", 0),
            rooms.memories.remember(a, note("x")),
            rooms.memories.remember_own(a, note("x")),
            rooms.memories.identity(a, None, 10, include_history=False),
            rooms.memories.identity_text(a, "id_1", 0),
            rooms.memories.remember_identity(a, note("x")),
        ):
            async with asyncio.timeout(5):
                await refused(ErrorCode.MCP_BINDING_MISMATCH, call)
        assert await rooms.events("memory.remembered") == []
