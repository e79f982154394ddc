"""Reading the room's data from the server, and saying plainly when it gives none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from groupx_server.builtin_agent import room_api
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.room_api import RoomApi, RoomDataError
from support.fake_room_server import ROOM, TOKEN, FakeRoomServer
from support.loopback_http import HttpRequest, LoopbackServer, Responder


@asynccontextmanager
async def api_at(url: str, token: str | None = TOKEN) -> AsyncIterator[RoomApi]:
    http = HttpPool()
    yield RoomApi(http, url, token)
    await http.aclose()


async def test_messages_are_read_page_by_page_to_the_first() -> None:
    async with FakeRoomServer() as server, api_at(server.url) as api:
        seqs = [server.say(f"m{number}") for number in range(7)]
        read: list[int] = []
        before: int | None = None
        while True:
            page = await api.messages(ROOM, before, limit=3)
            read = [message.seq for message in page.messages] + read
            if not page.has_more_before:
                break
            before = page.messages[0].seq
    assert read == seqs


async def test_a_message_is_cleaned_and_its_time_is_known() -> None:
    async with FakeRoomServer() as server, api_at(server.url) as api:
        server.say("red \x1b[31malert", author="Evil\x1b]0;x\x07")
        [message] = (await api.messages(ROOM)).messages
    assert message.content == "red ␛[31malert"
    assert "\x1b" not in message.author
    assert message.at is not None
    assert message.at.year == 2026


async def test_events_that_are_no_messages_are_passed_over() -> None:
    async with FakeRoomServer() as server, api_at(server.url) as api:
        server.say("one")
        server.say("two")
        server.say("three")
        server.messages[0]["body"] = {"content": 7}
        server.messages[1] = {"seq": 4, "type": "message.created"}
        server.messages[2]["occurredAt"] = "yesterday"
        server.messages[2]["actor"] = None
        [message] = (await api.messages(ROOM)).messages
    assert (message.content, message.at, message.author) == ("three", None, "unknown")


async def test_lists_are_read() -> None:
    async with FakeRoomServer() as server, api_at(server.url) as api:
        server.turns = [{"turnId": "t1"}]
        assert [room["roomId"] for room in await api.rooms()] == [ROOM, "room:old"]
        assert [agent["actorId"] for agent in await api.agents()] == ["agent:guide"]
        assert await api.open_turns(ROOM) == [{"turnId": "t1"}]
        assert ("/api/turns", {"roomId": ROOM, "status": "open"}) in server.asked


async def test_a_server_without_memory_is_missing_it_and_not_broken() -> None:
    async with FakeRoomServer() as server, api_at(server.url) as api:
        with pytest.raises(RoomDataError, match="does not offer this") as missing:
            await api.memory(ROOM)
        server.broken = 500
        with pytest.raises(RoomDataError, match="HTTP 500") as broken:
            await api.memory(ROOM)
    assert missing.value.is_missing
    assert not broken.value.is_missing


async def test_a_refusal_is_told_in_the_servers_own_words() -> None:
    async def refuse(_: HttpRequest, respond: Responder) -> None:
        body = b'{"error": {"code": "UNKNOWN_ROOM", "message": "There is no room \\"x\\"."}}'
        await respond.whole(404, body)

    async with LoopbackServer(refuse) as server, api_at(server.url) as api:
        with pytest.raises(RoomDataError, match=r'says: There is no room "x" \(HTTP 404') as error:
            await api.messages("room:x")
    assert not error.value.is_missing


async def test_a_wrong_token_is_told_without_showing_it() -> None:
    async with FakeRoomServer() as server, api_at(server.url, "wrong-token") as api:
        with pytest.raises(RoomDataError, match="refused this agent's token") as error:
            await api.rooms()
    assert "wrong-token" not in error.value.message


async def test_no_server_is_told_with_what_to_do() -> None:
    async with FakeRoomServer() as server:
        url = server.url
    async with api_at(url) as api:
        with pytest.raises(RoomDataError, match=r"does not answer .* `groupx status`"):
            await api.rooms()


async def test_a_server_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(_: HttpRequest, respond: Responder) -> None:
        await respond.client_gone()

    monkeypatch.setattr(room_api, "REPLY_TIMEOUT_S", 0.05)
    async with LoopbackServer(hang) as server, api_at(server.url) as api:
        with pytest.raises(RoomDataError, match=r"no answer within 0\.05 s"):
            await api.rooms()


async def test_what_is_no_json_object_is_told() -> None:
    async def list_only(_: HttpRequest, respond: Responder) -> None:
        await respond.whole(200, b"[]")

    async with LoopbackServer(list_only) as server, api_at(server.url) as api:
        with pytest.raises(RoomDataError, match="JSON object"):
            await api.rooms()


async def test_a_page_too_large_to_hold_is_asked_for_in_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room_api, "MAX_REPLY_BYTES", 3000)
    async with FakeRoomServer() as server, api_at(server.url) as api:
        for _ in range(8):
            server.say("x" * 500)
        page = await api.messages(ROOM, limit=8)
        assert 0 < len(page.messages) < 8
        assert page.has_more_before
        server.say("x" * 4000)
        with pytest.raises(RoomDataError, match="over 3,000 bytes"):
            await api.messages(ROOM, limit=8)
