"""A loopback model server that speaks the Anthropic Messages API, in the test's own process.

`async with FakeMessages() as model:` then `model.plan(...)` says how the next requests are
answered, one `Behaviour` each; without a plan it streams a short text. A request that brings the
result of a tool is answered with that result, so that a test sees what the agent sent back.
`model.requests` holds the bodies.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from support.loopback_http import HttpRequest, LoopbackServer, Responder

Behaviour = Callable[["Reply"], Awaitable[None]]
PIECES: Final = 3
"""Into so many deltas a text is cut."""
_USAGE: Final = {
    "input_tokens": 11,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 1,
    "output_tokens": 4,
}


class Reply:
    """One answer; behaviours call its methods. A client that asked for no stream gets the same
    answer whole."""

    _numbers = itertools.count()

    def __init__(self, request: dict[str, Any], responder: Responder) -> None:
        self.request = request
        self.responder = responder
        self._content: list[dict[str, Any]] = []
        self._stop_reason = "end_turn"

    @property
    def is_streamed(self) -> bool:
        return self.request.get("stream") is True

    @property
    def tools(self) -> list[str]:
        """The names of the tools that were offered."""
        return [tool.get("name", "") for tool in self.request.get("tools", [])]

    async def message(self, text: str, *, is_whole: bool = True) -> None:
        """Stream a text; one that is not whole never completes."""
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
        await self._block({"type": "text", "text": ""}, deltas, {"text": text}, is_whole=is_whole)

    async def thought(self, text: str) -> None:
        """Stream reasoning."""
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(text)]
        signed = [*deltas, {"type": "signature_delta", "signature": "ZmFrZQ=="}]
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        await self._block(empty, signed, {"thinking": text, "signature": "ZmFrZQ=="})

    async def call(self, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool of the agent."""
        self._stop_reason = "tool_use"
        empty = {"type": "tool_use", "id": f"toolu_{next(self._numbers)}", "name": name}
        deltas = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in _pieces(json.dumps(arguments))
        ]
        await self._block({**empty, "input": {}}, deltas, {"input": arguments})

    async def completed(self, stop_reason: str | None = None) -> None:
        """End the answer, for another reason if one is given."""
        self._stop_reason = stop_reason or self._stop_reason
        if not self.is_streamed:
            body = {**self._head(), "content": self._content, "stop_reason": self._stop_reason}
            await self.responder.whole(200, json.dumps(body).encode())
            return
        delta = {"stop_reason": self._stop_reason, "stop_sequence": None}
        await self._event("message_delta", delta=delta, usage=_USAGE)
        await self._event("message_stop")
        await self.responder.end()

    async def _block(
        self,
        empty: dict[str, Any],
        deltas: list[dict[str, Any]],
        filled: dict[str, Any],
        *,
        is_whole: bool = True,
    ) -> None:
        index = len(self._content)
        self._content.append({**empty, **filled})
        if not self.is_streamed:
            return
        if index == 0:
            await self.responder.begin("text/event-stream")
            await self._event("message_start", message=self._head())
        await self._event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            await self._event("content_block_delta", index=index, delta=delta)
        if is_whole:
            await self._event("content_block_stop", index=index)

    async def _event(self, kind: str, **fields: Any) -> None:
        data = json.dumps({"type": kind, **fields})
        await self.responder.chunk(f"event: {kind}\ndata: {data}\n\n".encode())

    def _head(self) -> dict[str, Any]:
        return {
            "id": f"msg_{next(self._numbers)}",
            "type": "message",
            "role": "assistant",
            "model": self.request.get("model", "fake-model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE,
        }


class FakeMessages(LoopbackServer):
    """The server; `url` is what an agent is configured with."""

    def __init__(self) -> None:
        super().__init__(self._handle)
        self.requests: list[dict[str, Any]] = []
        self._plan: list[Behaviour] = []

    def plan(self, *behaviours: Behaviour) -> None:
        """Answer the next requests so, in this order."""
        self._plan.extend(behaviours)

    def forget_plan(self) -> None:
        """Answer as without a plan again."""
        self._plan.clear()

    def said(self) -> str:
        """Everything that the last request told the model, as one text."""
        return json.dumps(self.requests[-1]["messages"], ensure_ascii=False)

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        if request.path.endswith("/count_tokens"):
            await respond.whole(200, b'{"input_tokens": 11}')
            return
        if not request.path.endswith("/messages"):
            await respond.whole(404, b"{}")
            return
        self.requests.append(request.json)
        reply = Reply(request.json, respond)
        behave = self._plan.pop(0) if self._plan else None
        result = tool_result(request.json)
        if behave is None:
            told = "Hello from the fake." if result is None else f"The tool said: {result}"
            behave = text(told)
        await behave(reply)


def tool_result(request: dict[str, Any]) -> str | None:
    """What a tool gave back, when the conversation ends with that; notes of the program to the
    model may follow."""
    messages = [m for m in request.get("messages", []) if m.get("role") == "user"]
    content = messages[-1].get("content") if messages else None
    for block in reversed(content if isinstance(content, list) else []):
        if block.get("type") == "tool_result":
            given = block.get("content")
            return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if not str(block.get("text", "")).startswith("<system-reminder>"):
            return None
    return None


def text(*messages: str) -> Behaviour:
    """Stream messages and end."""

    async def behave(reply: Reply) -> None:
        for message in messages:
            await reply.message(message)
        await reply.completed()

    return behave


def thought(reasoning: str, message: str) -> Behaviour:
    """Stream reasoning, then a message, and end."""

    async def behave(reply: Reply) -> None:
        await reply.thought(reasoning)
        await reply.message(message)
        await reply.completed()

    return behave


def tool(name: str, arguments: dict[str, Any]) -> Behaviour:
    """Call a tool; when it is not offered, say what is."""

    async def behave(reply: Reply) -> None:
        if name in reply.tools:
            await reply.call(name, arguments)
        else:
            await reply.message(f"no such tool; offered: {reply.tools}")
        await reply.completed()

    return behave


def shell(command: str) -> Behaviour:
    """Run a command with the agent's own shell tool."""
    return tool("Bash", {"command": command, "description": "run it"})


def lost(beginning: str) -> Behaviour:
    """Begin to say something, then drop the connection."""

    async def behave(reply: Reply) -> None:
        await reply.message(beginning, is_whole=False)

    return behave


def refused(status: int, message: str) -> Behaviour:
    """Answer with an HTTP error."""

    async def behave(reply: Reply) -> None:
        error = {"type": "fake_error", "message": message}
        body = {"type": "error", "error": error}
        await reply.responder.whole(status, json.dumps(body).encode())

    return behave


def endless(beginning: str) -> Behaviour:
    """Say something and then nothing, until the client goes away."""

    async def behave(reply: Reply) -> None:
        await reply.message(beginning, is_whole=False)
        await reply.responder.client_gone()

    return behave


def _pieces(whole: str) -> list[str]:
    size = max(1, -(-len(whole) // PIECES))
    return [whole[start : start + size] for start in range(0, len(whole), size)]
