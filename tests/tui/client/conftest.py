"""A fake server, the place it is found at, and clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from groupx_tui.client.endpoint import Endpoint
from groupx_tui.client.http import ServerClient
from support.fake_server import FakeServer
from support.server_place import Place


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


@pytest.fixture
def place(server: FakeServer) -> Place:
    return Place(server.runtime)


@pytest.fixture
async def client(place: Place) -> AsyncIterator[ServerClient]:
    opened = ServerClient(Endpoint(place.find), reply_timeout_s=2.0)
    yield opened
    await opened.aclose()
