"""A loopback OpenAI-compatible chat server for tests, in the test's own process.

`async with FakeOpenAI() as fake:` then `fake.plan(...)` says how the next requests are answered,
one `Behaviour` each; without a plan it streams a short text. `fake.requests` holds the bodies.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from support.loopback_http import HttpRequest, LoopbackServer, Responder

Behaviour = Callable[[Responder], Awaitable[None]]
EVENT_STREAM = "text/event-stream"


class FakeOpenAI(LoopbackServer):
    """The server. `models` is what `/v1/models` lists, unless `lists_models` is false."""

    def __init__(self, models: list[dict[str, Any]] | None = None) -> None:
        super().__init__(self._handle)
        self.models: list[dict[str, Any]] | None = (
            [{"id": "fake-model", "object": "model"}] if models is None else models
        )
        self.lists_models = True
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.listed = 0
        self.client_went_away = asyncio.Event()
        self._plan: list[Behaviour] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def plan(self, *behaviours: Behaviour) -> None:
        """Answer the next requests so, in this order."""
        self._plan.extend(behaviours)

    def hang_after(self, *payloads: Any) -> Behaviour:
        """Stream `payloads`, then nothing until the client closes the connection."""

        async def behave(respond: Responder) -> None:
            await respond.begin(EVENT_STREAM)
            for payload in payloads:
                await respond.chunk(event(payload))
            await respond.client_gone()
            self.client_went_away.set()

        return behave

    async def _handle(self, request: HttpRequest, respond: Responder) -> None:
        if request.path.endswith("/models"):
            self.listed += 1
            if not self.lists_models:
                await respond.whole(404, b'{"error": {"message": "no such path"}}')
                return
            body = {"object": "list", "data": self.models}
            await respond.whole(200, json.dumps(body).encode())
            return
        if request.path != "/v1/chat/completions":
            await respond.whole(404, b"not here", "text/plain")
            return
        self.requests.append(request.json)
        self.headers.append(request.headers)
        behave = self._plan.pop(0) if self._plan else text("Hello ", "from the fake.")
        await behave(respond)


def event(payload: Any) -> bytes:
    """One SSE event; a `str` payload is taken as it is."""
    data = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return f"data: {data}\n\n".encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One streamed chunk."""
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


def stream(*payloads: Any, done: bool = True) -> Behaviour:
    """Stream these payloads, one event each, and `[DONE]`."""

    async def behave(respond: Responder) -> None:
        await respond.begin(EVENT_STREAM)
        for payload in payloads:
            await respond.chunk(event(payload))
        if done:
            await respond.chunk(event("[DONE]"))
        await respond.end()

    return behave


def text(*pieces: str, finish: str = "stop", usage: dict[str, Any] | None = None) -> Behaviour:
    """Stream a plain answer."""
    payloads: list[Any] = [delta(content=piece) for piece in pieces]
    payloads.append(delta(finish))
    if usage is not None:
        payloads.append({"choices": [], "usage": usage})
    return stream(*payloads)


def tool_call(
    name: str, *argument_pieces: str, call_id: str = "c1", finish: str = "tool_calls"
) -> Behaviour:
    """Stream one tool call with its arguments in pieces."""
    head = {"index": 0, "id": call_id, "type": "function", "function": {"name": name}}
    payloads: list[Any] = [delta(tool_calls=[head])]
    payloads += [
        delta(tool_calls=[{"index": 0, "function": {"arguments": piece}}])
        for piece in argument_pieces
    ]
    return stream(*payloads, delta(finish))


def refusal(status: int, message: str, retry_after: str | None = None) -> Behaviour:
    """Answer with an error status."""
    headers = {} if retry_after is None else {"retry-after": retry_after}

    async def behave(respond: Responder) -> None:
        body = json.dumps({"error": {"message": message}}).encode()
        await respond.whole(status, body, headers=headers)

    return behave


def whole(body: Any, content_type: str = "application/json") -> Behaviour:
    """Answer in one piece, not streamed."""

    async def behave(respond: Responder) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        await respond.whole(200, data, content_type)

    return behave


def drop_after(*payloads: Any) -> Behaviour:
    """Stream `payloads`, then break the connection."""

    async def behave(respond: Responder) -> None:
        await respond.begin(EVENT_STREAM)
        for payload in payloads:
            await respond.chunk(event(payload))

    return behave
