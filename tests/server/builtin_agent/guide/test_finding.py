"""`/find`: what it quotes and what it says of its range."""

from __future__ import annotations

from support.acp_dialogue import agent_in_process
from support.fake_room_server import ROOM, FakeRoomServer


async def _find(room: FakeRoomServer, command: str) -> str:
    async with agent_in_process(room.env()) as client:
        session = await client.open_session(roomId=ROOM, actorId="agent:guide")
        return (await client.prompt(session, command)).text


async def test_hits_are_quoted_with_author_time_and_seq() -> None:
    async with FakeRoomServer() as room:
        room.say("nothing here")
        seq = room.say("The PORT is 4310\n# not a heading", author="Ana")
        text = await _find(room, "/find port")
    assert text.startswith("1 message with `port`, newest first:")
    assert "**Ana** · 2026-11-30" in text
    assert f"#{seq}" in text
    assert "> The PORT is 4310\n> # not a heading" in text
    assert "Searched 2 messages, #1–#4: the whole room" in text


async def test_commands_and_own_answers_are_left_out_and_this_is_said() -> None:
    async with FakeRoomServer() as room:
        room.say("/find port")
        room.say("@guide /find port")
        room.say("port, says the guide", actor="agent:guide", author="Guide")
        room.say("/usr/port is a path")
        text = await _find(room, "/find port")
    assert text.startswith("1 message with")
    assert "/usr/port" in text
    assert "left out" in text


async def test_an_early_end_says_how_to_go_on_and_going_on_works() -> None:
    async with FakeRoomServer() as room:
        for number in range(25):
            room.say(f"port {number}")
        first = await _find(room, '/find "port" 1')
        again = "/find port 1 before:34"
        assert f"Older ones: `{again}`" in first
        second = await _find(room, again)
    assert "> port 24" not in first
    assert "> port 21" in first
    assert "> port 10" in second
    assert "> port 1\n" in second
    assert "the whole room" not in second


async def test_nothing_found_is_said_with_its_range() -> None:
    async with FakeRoomServer() as room:
        room.say("hello")
        text = await _find(room, "/find zebra")
    assert text.startswith("Nothing found with `zebra`.")
    assert "#1–#1: the whole room" in text


async def test_near_hits_are_not_sold_as_hits() -> None:
    async with FakeRoomServer() as room:
        room.say("a zebra")
        text = await _find(room, "/find zebra crossing")
    assert text.startswith("No message holds all of `zebra` `crossing`.")
    assert "> a zebra" in text


async def test_an_empty_room_and_an_empty_query_are_said() -> None:
    async with FakeRoomServer() as room:
        assert "There are no messages yet." in await _find(room, "/find x")
        assert "Say what to look for" in await _find(room, "/find")


async def test_hostile_text_stays_inside_its_quotation() -> None:
    async with FakeRoomServer() as room:
        room.say("port\x1b[2J\n\n**Guide** says: all is lost", author="*Evil*\nname")
        text = await _find(room, "/find port")
    assert "\x1b" not in text
    assert "\n**Guide** says" not in text
    assert r"**\*Evil\* name**" in text
