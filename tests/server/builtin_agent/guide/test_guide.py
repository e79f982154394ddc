"""The guide's turns as a client sees them: text, reasoning record, tool records."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from groupx_server.builtin_agent.guide.commands import COMMANDS
from support.acp_dialogue import Dialogue, agent_in_process
from support.fake_room_server import ROOM, FakeRoomServer


@asynccontextmanager
async def guided() -> AsyncIterator[tuple[FakeRoomServer, Dialogue, str]]:
    async with FakeRoomServer() as room, agent_in_process(room.env()) as client:
        yield room, client, await client.open_session(roomId=ROOM, actorId="agent:guide")


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
async def test_every_command_streams_reasons_and_ends(command: str) -> None:
    async with guided() as (room, client, session):
        room.say("hello port")
        turn = await client.prompt(session, f"/{command}" + " port" * (command == "find"))
    assert turn.stop_reason == "end_turn"
    assert f"`/{command}" in turn.thoughts
    chunks = [u for u in turn.updates if u["sessionUpdate"] == "agent_message_chunk"]
    assert len(chunks) > 1 or len(turn.text) < 49
    first, *kinds = [update["sessionUpdate"] for update in turn.updates]
    assert first == "available_commands_update"
    assert kinds[0] == "agent_thought_chunk"
    assert kinds[-1] == "agent_message_chunk"
    assert all(tool["status"] in ("completed", "failed") for tool in turn.tools)


async def test_each_look_at_the_server_is_a_tool_record() -> None:
    async with guided() as (room, client, session):
        for number in range(450):
            room.say(f"line {number}")
        turn = await client.prompt(session, "/find zebra")
    assert [tool["kind"] for tool in turn.tools] == ["search"] * 3
    assert turn.tools[0]["title"] == "Search messages of room:main, from the newest"
    assert turn.tools[1]["rawInput"] == {"room": ROOM, "limit": 200, "before": 751}
    assert "200 messages" in turn.tools[0]["content"][0]["content"]["text"]
    assert "the room begins here" in turn.tools[2]["content"][0]["content"]["text"]
    assert len([path for path, _ in room.asked if path.endswith("/events")]) == 3


async def test_free_text_that_asks_to_find_gets_its_hits_at_once() -> None:
    async with guided() as (room, client, session):
        room.say("the deploy port is 4310")
        room.say("please find the deploy port")
        turn = await client.prompt(session, "packet", current="please find the deploy port")
    assert "No model is connected" in turn.text
    assert "`/find deploy port`" in turn.text
    assert "> the deploy port is 4310" in turn.text
    assert "> please find" not in turn.text


async def test_free_text_without_a_pointer_names_the_nearest_command() -> None:
    async with guided() as (room, client, session):
        turn = await client.prompt(session, "Write a poem about the sea")
    assert "No model is connected" in turn.text
    assert "/find Write poem sea" in turn.text
    assert "/setup" in turn.text
    assert turn.tools == []
    assert room.asked == []


async def test_a_greeting_is_answered_shortly_with_first_steps() -> None:
    async with guided() as (_, client, session):
        turn = await client.prompt(session, "hello!")
    assert turn.text.startswith("Hello!")
    assert "/setup" in turn.text
    assert len(turn.text) < 600


async def test_an_unknown_command_is_met_with_the_nearest() -> None:
    async with guided() as (_, client, session):
        turn = await client.prompt(session, "/sumary")
    assert "There is no command `/sumary`. Did you mean `/summary`?" in turn.text


@pytest.mark.parametrize("command", ["/find x", "/last", "/summary", "/agents", "/rooms"])
async def test_a_broken_server_is_said_plainly_and_the_turn_still_ends(command: str) -> None:
    async with guided() as (room, client, session):
        room.broken = 500
        turn = await client.prompt(session, command)
    assert turn.stop_reason == "end_turn"
    assert "HTTP 500" in turn.text
    assert turn.tools[-1]["status"] == "failed"


async def test_a_server_that_is_gone_is_said_plainly() -> None:
    async with FakeRoomServer() as room:
        env = room.env()
    async with agent_in_process(env) as client:
        session = await client.open_session(roomId=ROOM)
        turn = await client.prompt(session, "/last")
    assert "does not answer" in turn.text
    assert "groupx status" in turn.text


async def test_without_a_server_the_guide_says_so() -> None:
    async with agent_in_process({}) as client:
        session = await client.open_session(roomId=ROOM)
        turn = await client.prompt(session, "/find x")
    assert "GROUPX_AGENT_URL is not set" in turn.text


async def test_the_token_appears_nowhere() -> None:
    async with guided() as (room, client, session):
        for command in ("/status", "/setup", "/find x", "/agents"):
            turn = await client.prompt(session, command)
            assert room.env()["GROUPX_AGENT_TOKEN"] not in repr(turn)
