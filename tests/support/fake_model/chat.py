"""The Chat Completions dialect: `POST …/chat/completions`."""

from __future__ import annotations

import json
import uuid
from typing import Any, Final, Literal

from support.fake_model.script import Ask, Said, Tool, Voice, event, flat, pieces
from support.loopback_http import Responder

_ROLES: Final[dict[str, Literal["user", "agent", "tool"]]] = {
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
}
_USAGE: Final = {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}


def read(body: dict[str, Any]) -> Ask:
    """A request body."""
    said = [one for message in body.get("messages", []) for one in _said(message)]
    functions = [tool["function"] for tool in body.get("tools") or [] if "function" in tool]
    tools = [Tool(one["name"], one.get("parameters") or {}) for one in functions]
    return Ask(said, tools, body.get("stream") is True)


def _said(message: dict[str, Any]) -> list[Said]:
    if (by := _ROLES.get(message.get("role", ""))) is None:
        return []
    calls = [call["function"]["name"] for call in message.get("tool_calls") or []]
    return [Said(by, flat(message.get("content"))), *(Said("call", name) for name in calls)]


class ChatVoice(Voice):
    """Chunks of a chat completion."""

    def __init__(self, responder: Responder, model: str) -> None:
        super().__init__(responder)
        self._model = model
        self._id = f"chatcmpl-{uuid.uuid4().hex}"
        self._has_begun = False
        self._finish = "stop"

    async def say(self, text: str, *, is_whole: bool = True) -> None:
        for piece in pieces(text):
            await self._delta({"content": piece})

    async def think(self, text: str) -> None:
        for piece in pieces(text):
            await self._delta({"reasoning_content": piece})

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        self._finish = "tool_calls"
        function = {"name": tool.name, "arguments": ""}
        head = {"index": 0, "id": f"call_{uuid.uuid4().hex[:8]}", "type": "function"}
        await self._delta({"tool_calls": [{**head, "function": function}]})
        for piece in pieces(json.dumps(arguments), 2):
            await self._delta({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})

    async def end(self, *, is_cut: bool = False) -> None:
        await self._delta({}, "length" if is_cut else self._finish)
        await self._chunk({"choices": [], "usage": _USAGE})
        await self.responder.chunk(event("[DONE]"))
        await self.responder.end()

    async def refuse(self, status: int, message: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "code": None}
        await self.responder.whole(status, json.dumps({"error": error}).encode())

    async def whole(self, text: str) -> None:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        body = {**self._head("chat.completion"), "choices": [choice], "usage": _USAGE}
        await self.responder.whole(200, json.dumps(body).encode())

    async def _delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        await self._chunk({"choices": [choice]})

    async def _chunk(self, fields: dict[str, Any]) -> None:
        if not self._has_begun:
            self._has_begun = True
            await self.responder.begin("text/event-stream")
            await self._delta({"role": "assistant", "content": ""})
        await self.responder.chunk(event({**self._head("chat.completion.chunk"), **fields}))

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": 0, "model": self._model}
