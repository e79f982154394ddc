"""The Gemini dialect: `POST …/models/NAME:streamGenerateContent` and `:generateContent`."""

from __future__ import annotations

import json
from typing import Any, Final

from support.fake_model.script import Ask, Said, Tool, Voice, event, pieces

_USAGE: Final = {"promptTokenCount": 11, "candidatesTokenCount": 4, "totalTokenCount": 15}


def read(body: dict[str, Any], *, is_streamed: bool) -> Ask:
    """A request body."""
    said = [one for content in body.get("contents", []) for one in _said(content)]
    declared = [
        one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []
    ]
    schemas = [one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared]
    tools = [Tool(one["name"], schema) for one, schema in zip(declared, schemas, strict=True)]
    return Ask(said, tools, is_streamed)


def _said(content: dict[str, Any]) -> list[Said]:
    """The parts of a content; results of tools are among those of the user."""
    by_user = content.get("role", "user") == "user"
    found: list[Said] = []
    for part in content.get("parts") or []:
        if "functionResponse" in part:
            found.append(Said("tool", _result(part["functionResponse"].get("response"))))
        elif "text" in part:
            found.append(Said("user" if by_user else "agent", part["text"]))
    return found


def _result(response: Any) -> str:
    if isinstance(response, dict):
        return "\n".join(str(value) for value in response.values())
    return str(response)


class GeminiVoice(Voice):
    """Chunks of generated content."""

    _has_begun = False

    async def say(self, text: str, *, is_whole: bool = True) -> None:
        for piece in pieces(text):
            await self._part({"text": piece})

    async def think(self, text: str) -> None:
        await self._part({"text": text, "thought": True})

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> None:
        await self._part({"functionCall": {"name": tool.name, "args": arguments}})

    async def end(self, *, is_cut: bool = False) -> None:
        await self._chunk([], "MAX_TOKENS" if is_cut else "STOP")
        await self.responder.end()

    async def refuse(self, status: int, message: str) -> None:
        error = {"code": status, "message": message, "status": "INVALID_ARGUMENT"}
        await self.responder.whole(status, json.dumps({"error": error}).encode())

    async def whole(self, text: str) -> None:
        body = _body([{"text": text}], "STOP")
        await self.responder.whole(200, json.dumps(body).encode())

    async def _part(self, part: dict[str, Any]) -> None:
        await self._chunk([part], None)

    async def _chunk(self, parts: list[dict[str, Any]], finish: str | None) -> None:
        if not self._has_begun:
            self._has_begun = True
            await self.responder.begin("text/event-stream")
        await self.responder.chunk(event(_body(parts, finish)))


def _body(parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "fake-model"}
