"""Each read is recorded, also when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.builtin_agent.guide.records import RecordedRoom
from groupx_server.builtin_agent.http_pool import HttpPool
from groupx_server.builtin_agent.room_api import RoomApi, RoomDataError
from groupx_server.builtin_agent.updates import TurnSink
from support.fake_room_server import ROOM, TOKEN, FakeRoomServer


async def test_a_read_is_recorded_before_and_after_it_happens() -> None:
    told: list[dict[str, Any]] = []

    async def notify(_: str, params: dict[str, Any]) -> None:
        told.append(params["update"])

    http = HttpPool()
    async with FakeRoomServer() as server:
        api = RoomApi(http, server.url, TOKEN)
        room = RecordedRoom(api, TurnSink("s", notify, 1), ROOM)
        server.say("hello")
        await room.messages()
        server.broken = 500
        with pytest.raises(RoomDataError):
            await room.open_turns()
    await http.aclose()
    assert [update["status"] for update in told] == [
        "in_progress",
        "completed",
        "in_progress",
        "failed",
    ]
    assert told[1]["content"][0]["content"]["text"] == "1 message, #1–#1; the room begins here"
    assert "HTTP 500" in told[3]["content"][0]["content"]["text"]
