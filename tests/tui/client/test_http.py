"""Each method asks its endpoint and understands the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_shared.wire.requests import SendMessage
from groupx_tui.client.http import ServerClient
from support.fake_server import Answer, FakeServer
from support.loopback_http import HttpRequest, Responder


def answering(status: int, body: dict[str, Any]) -> Answer:
    async def answer(request: HttpRequest, respond: Responder) -> None:
        await respond.whole(status, json.dumps(body).encode())

    return answer


HEALTH = {"status": "ok", "runtimeScopeKey": "a", "runtimeKey": "b", "uptimeS": 1.5}
ROOM = {"roomId": "room:x", "title": "X", "createdAt": "2026-01-01T00:00:00Z"}
USAGE = {
    "roomId": "room:main",
    "throughSeq": 1,
    "estimatedCharacters": 1,
    "maxCharacters": 2,
    "compactionTriggerCharacters": 2,
    "utilizationPercent": 50.0,
    "uncompactedMessageCount": 1,
}
TURN = {
    "turnId": "turn_1",
    "roomId": "room:main",
    "targetActorId": "agent:codex",
    "status": "running",
    "sourceEventId": "evt",
    "correlationId": "corr",
    "queuedAt": "2026-01-01T00:00:00Z",
}


async def test_reading_asks_the_right_paths(server: FakeServer, client: ServerClient) -> None:
    server.script.say("hi")
    for path, body in (
        ("/api/health", HEALTH),
        ("/api/rooms", {"rooms": [ROOM]}),
        ("/api/turns/turn_1", TURN),
        ("/api/agents", {"agents": []}),
        ("/api/context", USAGE),
    ):
        server.fail_next(path, answering(200, body))
    assert (await client.health()).uptime_s == 1.5
    assert (await client.rooms()).rooms[0].title == "X"
    assert (await client.turn("turn_1")).status == "running"
    assert (await client.agents()).agents == ()
    assert (await client.context_usage("room:main")).utilization_percent == 50.0
    assert (await client.bootstrap("room:main", 5)).through_seq == 1
    event_id = server.script.durable[0].event_id
    assert (await client.event(event_id)).body == {"content": "hi"}
    assert (await client.turns(room_id="room:main", status="all", actor_id="agent:x")).turns == ()
    assert server.asked[-1].query == {
        "roomId": "room:main",
        "status": "all",
        "actorId": "agent:x",
        "limit": "100",
    }


async def test_a_stopped_root_is_let_go_on(server: FakeServer, client: ServerClient) -> None:
    reply = await client.continue_root("corr_1")
    assert (reply.correlation_id, reply.messages) == ("corr_1", ())
    assert server.asked[-1].path == "/api/roots/corr_1/continue"


async def test_pages_name_one_direction(server: FakeServer, client: ServerClient) -> None:
    for number in range(5):
        server.script.say(str(number))
    newest = await client.events("room:main", limit=2)
    assert [event.seq for event in newest.events] == [4, 5]
    assert (newest.has_more_before, newest.has_more_after) == (True, False)
    oldest = await client.events("room:main", after=0, limit=2)
    assert [event.seq for event in oldest.events] == [1, 2]
    around = await client.events("room:main", around=3, limit=3, types=["message.created"])
    assert 3 in [event.seq for event in around.events]
    assert server.asked[-1].path == "/api/rooms/room:main/events"
    assert server.asked[-1].query == {"around": "3", "limit": "3", "type": "message.created"}


async def test_an_id_cannot_leave_its_part_of_the_path(
    server: FakeServer, client: ServerClient
) -> None:
    with pytest.raises(RefusedError):
        await client.turn("../../api/runtime?x=1#y")
    assert server.asked[0].path == "/api/turns/..%2F..%2Fapi%2Fruntime%3Fx%3D1%23y"


async def test_commands_carry_their_id(server: FakeServer, client: ServerClient) -> None:
    reply = await client.cancel_turn("turn_1", "cmd_1")
    assert (reply.accepted, reply.status) == (True, "cancelling")
    assert server.asked[-1].json == {"clientCommandId": "cmd_1"}
    await client.restart_agent("agent:codex")
    assert server.asked[-1].json["clientCommandId"].startswith("cmd_")
    await client.create_room("Plans", client_command_id="cmd_2")
    assert server.asked[-1].json == {"clientCommandId": "cmd_2", "title": "Plans"}
    await client.change_room("room:plans", title="Plans2", client_command_id="cmd_3")
    assert (server.asked[-1].method, server.asked[-1].path) == ("PATCH", "/api/rooms/room:plans")
    assert server.asked[-1].json == {"clientCommandId": "cmd_3", "title": "Plans2"}


async def test_a_message_is_posted(server: FakeServer, client: ServerClient) -> None:
    message = SendMessage(client_command_id="cmd_1", content="hi", to=["agent:codex"])
    accepted = await client.send_message(message)
    assert (accepted.seq, accepted.room_id) == (1, "room:main")
    assert server.script.durable[0].body == {"content": "hi"}


async def test_an_export_streams(server: FakeServer, client: ServerClient) -> None:
    async def export(request: HttpRequest, respond: Responder) -> None:
        await respond.begin("application/x-ndjson")
        for line in (b"{}\n", b"{}\n"):
            await respond.chunk(line)
        await respond.end()

    server.fail_next("/api/export", export)
    async with client.export("room:main", "md") as chunks:
        assert b"".join([chunk async for chunk in chunks]) == b"{}\n{}\n"
    assert server.asked[-1].query == {"roomId": "room:main", "format": "md"}


async def test_a_shutdown_names_the_workspace(server: FakeServer, client: ServerClient) -> None:
    key = "c" * 64
    body = {"accepted": True, "runtimeKey": "b", "runtimeScopeKey": key}
    server.fail_next("/api/runtime/shutdown", answering(202, body))
    assert (await client.shutdown(key)).accepted
    assert server.asked[-1].json == {"runtimeScopeKey": key}


async def test_what_does_not_fit_the_wire_is_refused_before_it_is_sent(
    server: FakeServer, client: ServerClient
) -> None:
    with pytest.raises(RefusedError, match="title cannot be sent"):
        await client.create_room("x" * 65)
    with pytest.raises(RefusedError, match="runtime_scope_key cannot be sent"):
        await client.shutdown("no key")
    assert server.asked == []


async def test_an_answer_of_another_shape_says_which_part(
    server: FakeServer, client: ServerClient
) -> None:
    server.fail_next("/api/rooms", answering(200, {"rooms": [{"roomId": 7}]}))
    with pytest.raises(ServerUnreachableError, match=r"/api/rooms does not fit \(rooms\.0\.roomId"):
        await client.rooms()


async def test_a_code_of_a_newer_server_is_kept_in_the_details(
    server: FakeServer, client: ServerClient
) -> None:
    error = {"error": {"code": "BRAND_NEW", "message": "No."}}
    server.fail_next("/api/rooms", answering(400, error))
    with pytest.raises(RefusedError) as caught:
        await client.rooms()
    assert caught.value.code == ErrorCode.INVALID_ENVELOPE
    assert caught.value.details == {"serverCode": "BRAND_NEW"}


async def test_a_fault_of_the_server_is_not_a_refusal(
    server: FakeServer, client: ServerClient
) -> None:
    error = {"error": {"code": "INTERNAL_ERROR", "message": "It failed."}}
    server.fail_next("/api/rooms", answering(500, error))
    with pytest.raises(Exception, match="It failed") as caught:
        await client.rooms()
    assert not isinstance(caught.value, RefusedError)
