"""`/last` and `/summary`."""

from __future__ import annotations

import pytest

from groupx_server.builtin_agent.guide import reading
from support.acp_dialogue import Turn, agent_in_process
from support.fake_room_server import ROOM, FakeRoomServer


async def _run(room: FakeRoomServer, command: str) -> Turn:
    async with agent_in_process(room.env()) as client:
        return await client.prompt(await client.open_session(roomId=ROOM), command)


async def test_the_newest_messages_are_quoted_oldest_first() -> None:
    async with FakeRoomServer() as room:
        for number in range(12):
            room.say(f"line {number}")
        text = (await _run(room, "/last 2")).text
        default = (await _run(room, "/last")).text
    assert text.index("> line 10") < text.index("> line 11")
    assert "> line 9" not in text
    assert "Older messages exist." in text
    assert default.count("> line") == 10


@pytest.mark.parametrize(("asked", "read"), [("0", "1"), ("51", "50"), ("99999999999", "50")])
async def test_any_number_is_brought_into_bounds(asked: str, read: str) -> None:
    async with FakeRoomServer() as room:
        room.say("x")
        assert "> x" in (await _run(room, f"/last {asked}")).text
        assert room.asked[0][1]["limit"] == read


async def test_what_is_no_number_is_told() -> None:
    async with FakeRoomServer() as room:
        assert "takes a number" in (await _run(room, "/last ten")).text
        assert "no messages yet" in (await _run(room, "/last")).text


async def test_a_summary_counts_and_quotes_and_says_that_it_does_only_that() -> None:
    async with FakeRoomServer() as room:
        first = room.say("first words")
        for number in range(6):
            last = room.say(f"answer {number}", author="Codex", actor="agent:codex")
        room.turns = [{"targetActorId": "agent:codex", "status": "running"}]
        turn = await _run(room, "/summary")
    assert "no model wrote this" in turn.text
    assert f"Messages: 7 (all), #{first}–#{last}" in turn.text
    assert "Who spoke: Codex 6, You 1" in turn.text
    assert "“first words”" in turn.text
    assert "“answer 5”" in turn.text
    assert "“answer 0”" not in turn.text
    assert "Open turns: 1 (agent:codex running)" in turn.text
    assert [tool["kind"] for tool in turn.tools] == ["read", "read"]


async def test_a_summary_of_a_long_room_says_that_it_is_of_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "SUMMARY_PAGES", 2)
    async with FakeRoomServer() as room:
        for number in range(500):
            room.say(f"line {number}", author=f"A{number % 20}")
        text = (await _run(room, "/summary")).text
    assert "Messages: 400 (the newest; older ones were not read)" in text
    assert "First message read:" in text
    assert "and 8 more" in text


async def test_an_empty_room_is_said() -> None:
    async with FakeRoomServer() as room:
        assert "no messages yet" in (await _run(room, "/summary")).text
