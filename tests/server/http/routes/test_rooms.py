"""Rooms over HTTP."""

from __future__ import annotations

from groupx_shared.wire.replies import BootstrapReply, ContextUsage, RoomList, RoomReply
from support.http_app import http_app


async def test_bootstrap_has_the_newest_events_and_where_to_follow_from() -> None:
    async with http_app() as served:
        served.ledger.commit(5)
        response = await served.client.get("/api/bootstrap?limit=2")
        reply = BootstrapReply.model_validate_json(response.content)
        assert (reply.through_seq, [e.seq for e in reply.recent_events]) == (5, [4, 5])
        assert reply.has_more_before


async def test_a_limit_beyond_the_bounds_is_refused() -> None:
    async with http_app() as served:
        for limit in ("0", "501", "many", "-1"):
            response = await served.client.get(f"/api/bootstrap?limit={limit}")
            assert response.status_code == 400
            assert response.json()["error"]["details"]["issues"][0]["path"] == "limit"


async def test_a_room_is_created_listed_and_renamed() -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1", "title": "Ideas"}
        created = await served.client.post("/api/rooms", json=body)
        assert created.status_code == 201
        room_id = RoomReply.model_validate_json(created.content).room.room_id
        change = {"clientCommandId": "2", "title": "Good ideas"}
        changed = await served.client.patch(f"/api/rooms/{room_id}", json=change)
        assert RoomReply.model_validate_json(changed.content).room.title == "Good ideas"
        listed = await served.client.get("/api/rooms")
        rooms = RoomList.model_validate_json(listed.content).rooms
        assert [room.title for room in rooms] == ["Main", "Good ideas"]


async def test_a_room_that_exists_is_a_conflict_and_an_unknown_one_is_not_there() -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1", "title": "Main"}
        assert (await served.client.post("/api/rooms", json=body)).status_code == 409
        change = await served.client.patch("/api/rooms/room:nope", json={"clientCommandId": "1"})
        assert change.status_code == 404
        assert (await served.client.get("/api/bootstrap?roomId=room:nope")).status_code == 404
        assert (await served.client.get("/api/context?roomId=room:nope")).status_code == 404


async def test_context_tells_how_full_a_packet_would_be() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/context")
        assert ContextUsage.model_validate_json(response.content).room_id == "room:main"
