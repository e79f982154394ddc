"""The fake server of the client's tests, and a line-by-line client of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.client.session import ClientSession
from support.fake_server import FakeServer
from support.plain_talk import Talk
from support.server_place import Place


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


@pytest.fixture
def place(server: FakeServer) -> Place:
    return Place(server.runtime)


@pytest.fixture
def session(place: Place, tmp_path: Path) -> ClientSession:
    async def no_pause(pause: float) -> None:
        await asyncio.sleep(0.01)

    workspace = Workspace(tmp_path / "groupx.json", tmp_path, is_default=False)
    return ClientSession(workspace, find_server=place.find, sleep=no_pause)


@pytest.fixture
async def talk(server: FakeServer, session: ClientSession) -> AsyncIterator[Talk]:
    """A person in a room with ten messages."""
    for number in range(1, 11):
        server.script.say(f"message {number}", to=("codex",))
    opened = Talk(session, is_person=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(opened.client.run(opened.lines()))
        await opened.hear("Room main, 10 messages.")
        await server.stream_is_open()
        yield opened
        opened.end()
