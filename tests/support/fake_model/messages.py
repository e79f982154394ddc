"""The Anthropic Messages dialect: `POST …/messages`, spoken through `fake_messages.Reply`."""

from __future__ import annotations

import json
from typing import Any

from support.fake_messages import Reply
from support.fake_model.script import Ask, Said, Tool, Voice, flat
from support.loopback_http import Responder


def read(body: dict[str, Any]) -> Ask:
    """A request body."""
    said = [one for message in body.get("messages", []) for one in _said(message)]
    tools = [Tool(tool["name"], tool.get("input_schema") or {}) for tool in body.get("tools") or []]
    return Ask(said, tools, body.get("stream") is True)


def _said(message: dict[str, Any]) -> list[Said]:
    """The blocks of a message; results of tools are among those of the user."""
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        return []
    if isinstance(content, str):
        return [Said("user" if role == "user" else "agent", content)]
    found: list[Said] = []
    for block in content or []:
        if block.get("type") == "tool_result":
            found.append(Said("tool", flat(block.get("content"))))
        elif block.get("type") == "text":
            found.append(Said("user" if role == "user" else "agent", block["text"]))
    return found


class MessagesVoice(Voice):
    """Events of a message."""

    def __init__(self, responder: Responder, body: dict[str, Any]) -> None:
        super().__init__(responder)
        self._reply = Reply(body, responder)

    async def say(self, text: str, *, is_whole: bool = True) -> None:
        await self._reply.message(text, is_whole=is_whole)

    async def think(self, text: str) -> None:
        await self._reply.thought(text)

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        await self._reply.call(tool.name, arguments)

    async def end(self, *, is_cut: bool = False) -> None:
        await self._reply.completed("max_tokens" if is_cut else None)

    async def refuse(self, status: int, message: str) -> None:
        error = {"type": "invalid_request_error", "message": message}
        body = {"type": "error", "error": error}
        await self.responder.whole(status, json.dumps(body).encode())

    async def whole(self, text: str) -> None:
        await self._reply.message(text)
        await self._reply.completed()
