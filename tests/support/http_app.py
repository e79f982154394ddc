"""The HTTP application over `FakeRooms`, with its fan-out running, for one test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from starlette.types import ASGIApp

from groupx_server.http.app import Extras, build_app
from groupx_server.http.auth import Access, Credential, Credentials
from groupx_server.http.state import ServerState
from groupx_server.rooms.broadcast import Hub, HubLimits
from support.asgi_bridge import WAIT_S, SseReader, bridge_client
from support.fake_assistant import FakeAssistant
from support.fake_rooms import FakeLedger, FakeRooms

PORT: Final = 40_123
URL: Final = f"http://127.0.0.1:{PORT}"
TOKEN: Final = "operator-token"
READER_TOKEN: Final = "reader-token"
SCOPE_KEY: Final = "a" * 64
AS_OPERATOR: Final = {"authorization": f"Bearer {TOKEN}"}


def new_credentials() -> Credentials:
    return Credentials({TOKEN: Credential(), READER_TOKEN: Credential(Access.READER)})


@dataclass(slots=True)
class HttpApp:
    """All parts, and an httpx client that has the operator's token."""

    app: ASGIApp
    rooms: FakeRooms
    ledger: FakeLedger
    hub: Hub
    state: ServerState
    credentials: Credentials
    client: httpx.AsyncClient
    assistant: FakeAssistant
    stops: list[str] = field(default_factory=list)
    """One entry for each stop that was asked for."""

    @asynccontextmanager
    async def follow(self, path: str = "/api/events", **options: Any) -> AsyncIterator[SseReader]:
        """An open event stream whose prelude has been read."""
        async with self.client.stream("GET", path, **options) as response:
            assert response.status_code == 200, await response.aread()
            reader = SseReader(response)
            prelude = await reader.piece()
            assert prelude.startswith(b"retry: "), prelude
            assert reader.parser.feed(prelude) == []
            yield reader


@asynccontextmanager
async def http_app(
    ledger: FakeLedger | None = None,
    limits: HubLimits | None = None,
    port: int = PORT,
) -> AsyncIterator[HttpApp]:
    """Build and run everything; streams are ended when the block ends."""
    rooms, assistant = FakeRooms(ledger), FakeAssistant()
    hub = Hub(rooms, rooms.ledger, limits)
    state = ServerState(port, SCOPE_KEY, "b" * 32, readiness="ok")
    credentials = new_credentials()
    stops: list[str] = []
    app = build_app(
        rooms,
        credentials,
        hub,
        state,
        request_stop=lambda: stops.append("stop"),
        extras=Extras(rooms.reload, assistant),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        async with bridge_client(app, URL, TOKEN) as client:
            yield HttpApp(
                app, rooms, rooms.ledger, hub, state, credentials, client, assistant, stops
            )
            state.close()
            hub.close()


async def settle(condition: Any, turns: int = 10_000) -> None:
    """Let the loop run until `condition()` holds. Raises: AssertionError when it never does."""
    async with asyncio.timeout(WAIT_S):
        for _ in range(turns):
            if condition():
                return
            await asyncio.sleep(0)
    raise AssertionError("the condition never held")
