"""The whole path of an event: real ledger, real use cases, real socket, and a client far behind."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import orjson
import pytest

from groupx_server.http.app import build_app
from groupx_server.http.serve import HttpServer, bind_loopback
from groupx_server.http.state import ServerState
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.rooms.broadcast import Hub
from groupx_shared.ids import MAIN_ROOM, USER_WEB, new_id
from support.asgi_bridge import SseReader
from support.http_app import AS_OPERATOR, SCOPE_KEY, new_credentials
from support.rooms import NOW, House, house

BEHIND = 20_000
ARRIVING = 30


def add_messages(connection: sqlite3.Connection, count: int) -> None:
    for number in range(count):
        event = NewEvent(
            event_id=new_id("evt"),
            room_id=MAIN_ROOM,
            type="message.created",
            actor_id=USER_WEB,
            correlation_id="corr_1",
            occurred_at=NOW,
            body={"content": f"message {number}"},
        )
        insert_event(connection, event)


@asynccontextmanager
async def client_of(rooms: House) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a served house."""
    sock = bind_loopback()
    hub = Hub(rooms.service, rooms.ledger)
    state = ServerState(sock.getsockname()[1], SCOPE_KEY, "b" * 32, readiness="ok")
    stop = asyncio.Event()
    app = build_app(rooms.service, new_credentials(), hub, state, request_stop=stop.set)
    server = HttpServer(app, sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        group.create_task(server.run(stop))
        await server.is_ready.wait()
        async with httpx.AsyncClient(base_url=server.url, headers=AS_OPERATOR) as client:
            yield client
            state.close()
        hub.close()
        stop.set()


@pytest.mark.slow
async def test_twenty_thousand_events_are_caught_up_in_one_connection_while_new_ones_arrive(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as rooms, client_of(rooms) as client:
        for _ in range(BEHIND // 1_000):
            await rooms.ledger.write(lambda connection: add_messages(connection, 1_000))

        async def send_more() -> None:
            for number in range(ARRIVING):
                body = {"clientCommandId": f"new {number}", "content": "new"}
                assert (await client.post("/api/messages", json=body)).status_code == 202

        seqs: list[int] = []
        async with asyncio.TaskGroup() as group:
            group.create_task(send_more())
            async with client.stream("GET", "/api/events?afterSeq=0") as response:
                reader = SseReader(response)
                new = 0
                while new < ARRIVING:
                    frame = await reader.next()
                    event = orjson.loads(frame.data)
                    seqs.append(event["seq"])
                    new += event["body"].get("content") == "new"
                    assert frame.event_id == str(event["seq"])
        assert len(seqs) >= BEHIND + ARRIVING
        exported = await client.get("/api/export")
        assert seqs == [orjson.loads(line)["seq"] for line in exported.content.splitlines()]
