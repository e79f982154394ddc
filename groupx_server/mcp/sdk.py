"""The official SDK's server around a desk of tools. Importing this module costs seconds, so only
`gate` does, in a thread, when the first agent is about to connect.

Stateless: each request brings a server of its own up and down, and carries its caller in its
scope. Nothing is kept between two requests, so a restart of GroupX changes nothing for tools.
"""

from __future__ import annotations

from typing import Any

import orjson
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from groupx_server.mcp.arguments import schema_of
from groupx_server.mcp.desk import Desk, Tool
from groupx_server.mcp.gate import CALLER_KEY
from groupx_shared.version import VERSION
from groupx_shared.wire.requests import MAX_BODY_BYTES

Context = ServerRequestContext[Any, Any]


def build_manager(desk: Desk[Any]) -> StreamableHTTPSessionManager:
    """An SDK session manager that serves the tools; enter its `run()` once."""
    listed = types.ListToolsResult(tools=[_definition(tool) for tool in desk.tools.values()])

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        assert context.request is not None
        caller = context.request.scope[CALLER_KEY]
        answer = await desk.call(caller, params.name, params.arguments or {})
        text = orjson.dumps(answer.payload).decode()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=None if answer.is_error else dict(answer.payload),
            is_error=answer.is_error,
        )

    server: Server[Any] = Server(
        desk.server_name,
        version=VERSION,
        title="GroupX",
        instructions=desk.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # tracing, which nobody collects here
    return StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )


def _definition(tool: Tool[Any]) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.is_read_only,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        annotations=hints,
    )
