"""The Responses dialect: `POST …/responses`, spoken through `fake_responses.Reply`."""

from __future__ import annotations

import json
from typing import Any

from support.fake_model.script import Ask, Said, Tool, Voice, flat
from support.fake_responses import Reply
from support.loopback_http import Responder


def read(body: dict[str, Any]) -> Ask:
    """A request body."""
    told = body.get("input") or []
    items = [{"role": "user", "content": told}] if isinstance(told, str) else told
    said = [one for item in items if (one := _said(item)) is not None]
    return Ask(said, _tools(body.get("tools") or []), body.get("stream") is True)


def _said(item: dict[str, Any]) -> Said | None:
    if str(item.get("type", "")).endswith("_call_output"):
        return Said("tool", flat(item.get("output")))
    role = item.get("role")
    if role in ("user", "assistant"):
        return Said("user" if role == "user" else "agent", flat(item.get("content")))
    return None


def _tools(offered: list[dict[str, Any]], namespace: str | None = None) -> list[Tool]:
    """Tools, with those that a namespace holds."""
    found: list[Tool] = []
    for tool in offered:
        if "tools" in tool:
            found += _tools(tool["tools"], tool["name"])
        elif "name" in tool:
            found.append(Tool(tool["name"], tool.get("parameters") or {}, namespace))
    return found


class ResponsesVoice(Voice):
    """Events of a response."""

    def __init__(self, responder: Responder, body: dict[str, Any]) -> None:
        super().__init__(responder)
        self._reply = Reply(body, responder)

    async def say(self, text: str, *, is_whole: bool = True) -> None:
        await self._reply.message(text, is_whole=is_whole)

    async def think(self, text: str) -> None:
        await self._reply.reasoning(text)

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        await self._reply.call(tool.name, arguments, tool.namespace)

    async def end(self, *, is_cut: bool = False) -> None:
        await self._reply.completed(is_cut=is_cut)

    async def refuse(self, status: int, message: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "code": None}
        await self.responder.whole(status, json.dumps({"error": error}).encode())

    async def whole(self, text: str) -> None:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
        body = {"id": "resp_1", "object": "response", "status": "completed", "output": [item]}
        await self.responder.whole(200, json.dumps(body).encode())
