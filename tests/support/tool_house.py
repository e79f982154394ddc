"""Rooms with fake agents whose tools are served on a real socket, and the SDK's client for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from groupx_server.http.app import build_app
from groupx_server.http.auth import Credential, Credentials
from groupx_server.http.serve import HttpServer, bind_loopback
from groupx_server.http.state import ServerState
from groupx_server.mcp.endpoint import ToolEndpoint
from groupx_server.rooms.broadcast import Hub
from groupx_server.rooms.calls import AgentCalls
from groupx_server.rooms.grants import Grants
from support.rooms import House, house

OPERATOR: Final = "operator-token"


@dataclass
class ToolHouse:
    """Running rooms, and where their tools are."""

    rooms: House
    url: str
    state: ServerState
    endpoint: ToolEndpoint

    @property
    def rooms_calls(self) -> AgentCalls:
        """The use cases behind the tools."""
        assert self.endpoint.toolbox is not None
        return self.endpoint.toolbox.calls

    def token(self, name: str) -> str:
        """The newest token of an agent."""
        return self.rooms.fleet.tokens[f"agent:{name}"]

    @asynccontextmanager
    async def client(self, name: str = "a", token: str | None = None) -> AsyncIterator[Client]:
        """The SDK's client with an agent's token."""
        headers = {"Authorization": f"Bearer {token or self.token(name)}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http,
            streamable_http_client(self.url, http_client=http) as streams,
            ClientSession(*streams[:2]) as session,
        ):
            yield Client(session)

    async def post(self, headers: dict[str, str], method: str = "POST") -> httpx.Response:
        """A bare request, for what no decent client sends."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        common = {"Content-Type": "application/json", "Accept": "application/json"}
        async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
            return await http.request(method, self.url, json=body, headers=common | headers)


class Client:
    """Calls tools and gives their JSON."""

    def __init__(self, session: Any) -> None:
        self.session = session

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call that must succeed."""
        result = await self.session.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        found: dict[str, Any] = result.structured_content
        return found

    async def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """`{code, message, details?}` of a call that must be refused."""
        result = await self.session.call_tool(tool, arguments)
        assert result.is_error, result.content
        found: dict[str, Any] = json.loads(result.content[0].text)
        return found


@asynccontextmanager
async def tool_house(
    folder: Path, names: tuple[str, ...] = ("a", "b"), **more: Any
) -> AsyncIterator[ToolHouse]:
    """Run everything; at the end all is stopped."""
    sock = bind_loopback()
    port = sock.getsockname()[1]
    endpoint = ToolEndpoint()
    url = f"http://127.0.0.1:{port}/mcp"
    grants = Grants(url, on_issue=endpoint.want)
    async with house(folder, names, grants=grants, **more) as rooms:
        endpoint.connect(rooms.runtime, rooms.agents)
        state = ServerState(port, "a" * 64, "b" * 32, readiness="ok")
        hub = Hub(rooms.service, rooms.ledger)
        app = build_app(
            rooms.service,
            Credentials({OPERATOR: Credential()}),
            hub,
            state,
            request_stop=lambda: None,
            mounted={"/mcp": endpoint},
        )
        server, stop = HttpServer(app, sock), asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(server.run(stop))
            answering = tasks.create_task(endpoint.run())
            await server.is_ready.wait()
            try:
                yield ToolHouse(rooms, url, state, endpoint)
            finally:
                stop.set()
                await asyncio.wait([serving])
                answering.cancel()
