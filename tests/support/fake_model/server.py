"""The server: finds the dialect by the path and plays the script, in a thread of its own.

`with FakeModel() as model:` then `model.url` is what agents are pointed at, with the paths that
each vendor has. `model.requests` holds every body that reached it, in order.
"""

from __future__ import annotations

import asyncio
import json
import threading
from types import TracebackType
from typing import Any, Final, Self

from support.fake_model import chat, gemini, messages, responses
from support.fake_model.play import play
from support.fake_model.script import Ask, Voice
from support.loopback_http import HttpRequest, LoopbackServer, Responder

MODEL: Final = "fake-model"
_START_S: Final = 5.0


class FakeModel:
    """The running server; used from synchronous tests."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_START_S), "the fake model did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_S)

    def bodies(self, containing: str) -> list[str]:
        """Every request, as text, that holds these words."""
        texts = [json.dumps(body, ensure_ascii=False) for body in list(self.requests)]
        return [text for text in texts if containing in text]

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with LoopbackServer(self._handle) as server:
            self.url = server.url
            self._ready.set()
            await self._stop.wait()

    async def _handle(self, request: HttpRequest, responder: Responder) -> None:
        if request.method != "POST":
            await responder.whole(200, json.dumps(_models()).encode())
            return
        if request.path.endswith(("/count_tokens", ":countTokens")):
            count = {"input_tokens": 11, "totalTokens": 11}
            await responder.whole(200, json.dumps(count).encode())
            return
        found = _dialect(request, responder)
        if found is None:
            await responder.whole(404, b'{"error": {"message": "no such path"}}')
            return
        self.requests.append(request.json)
        await play(*found)


def _dialect(request: HttpRequest, responder: Responder) -> tuple[Ask, Voice] | None:
    path = request.path
    if path.endswith("/chat/completions"):
        body = request.json
        return chat.read(body), chat.ChatVoice(responder, body.get("model", MODEL))
    if path.endswith("/responses"):
        return responses.read(request.json), responses.ResponsesVoice(responder, request.json)
    if path.endswith("/messages"):
        return messages.read(request.json), messages.MessagesVoice(responder, request.json)
    if path.endswith((":generateContent", ":streamGenerateContent")):
        ask = gemini.read(request.json, is_streamed=path.endswith(":streamGenerateContent"))
        return ask, gemini.GeminiVoice(responder)
    return None


def _models() -> dict[str, Any]:
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "fake"}]}
