"""A loopback MCP server with one tool, in the test's own process: streamable HTTP, plain JSON.

`async with FakeMcp("secret") as mcp:` offers `read {n}`, which answers with a text that holds `n`;
a wrong bearer is refused. `mcp.calls` holds the arguments of each call.
"""

from __future__ import annotations

import json
from typing import Any, Final

from support.loopback_http import HttpRequest, LoopbackServer, Responder

_TOOL: Final = {
    "name": "read",
    "description": "Read the newest messages of the room.",
    "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}


class FakeMcp(LoopbackServer):
    """The server; `endpoint` is its URL."""

    def __init__(self, token: str) -> None:
        super().__init__(self._handle)
        self.calls: list[dict[str, Any]] = []
        self._bearer = f"Bearer {token}"

    @property
    def endpoint(self) -> str:
        return f"{self.url}/mcp"

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        if request.method != "POST":
            await respond.whole(405, b"")
        elif request.headers.get("authorization") != self._bearer:
            await respond.whole(401, b"")
        elif "id" not in request.json:
            await respond.whole(202, b"")
        else:
            result = self._result(request.json["method"], request.json.get("params") or {})
            answer = {"jsonrpc": "2.0", "id": request.json["id"], "result": result}
            await respond.whole(200, json.dumps(answer).encode())

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                return {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake", "version": "1"},
                }
            case "tools/list":
                return {"tools": [_TOOL]}
            case "tools/call":
                self.calls.append(params["arguments"])
                text = f"the room has {params['arguments'].get('n')} messages"
                return {"content": [{"type": "text", "text": text}]}
            case _:
                return {}
