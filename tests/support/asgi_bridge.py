"""A streaming bridge from httpx to an ASGI application, in this process and without a socket.

httpx's own ASGITransport collects the whole body before it returns, so an event stream never
comes back. Here the head returns as soon as it is sent, and a piece of the body is taken from the
application only when the reader asks for it: the application feels the reader's pace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
from starlette.types import ASGIApp

from groupx_shared.wire.sse import SseFrame, SseParser

WAIT_S: Final = 5.0
"""Bound on every wait of a test."""


class _Exchange:
    """One request and its response; holds one piece of the body at most, like a full socket."""

    def __init__(self, body: bytes) -> None:
        self.head: dict[str, Any] = {}
        self.has_head = asyncio.Event()
        self._body: bytes | None = body
        self._piece: bytes | None = None
        self._has_piece = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_gone = asyncio.Event()
        self._is_whole = False
        self._is_over = False

    async def receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._is_gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.head = message
            self.has_head.set()
            return
        if body := message.get("body", b""):
            await self._put(body)
        if not message.get("more_body", False):
            self._is_whole = True
            await self._put(None)

    async def _put(self, piece: bytes | None) -> None:
        await self._has_room.wait()
        if not self._is_gone.is_set():
            self._piece = piece
            self._has_room.clear()
            self._has_piece.set()

    async def take(self) -> bytes | None:
        """The next piece; None at the end. Raises: httpx.RemoteProtocolError when the
        application broke off."""
        await self._has_piece.wait()
        if self._is_over and self._has_room.is_set():
            raise httpx.RemoteProtocolError("the connection broke off inside the body")
        if not self._is_over:
            self._has_piece.clear()
        self._has_room.set()
        return self._piece

    def end(self) -> None:
        """The application returned; without an end mark the client sees a broken connection."""
        if not self._is_whole:
            self._is_over = True
            self._has_piece.set()

    def leave(self) -> None:
        """The client goes: nothing waits any longer, and what is still sent is void."""
        self._is_gone.set()
        self._has_room.set()


class _Body(httpx.AsyncByteStream):
    def __init__(self, exchange: _Exchange) -> None:
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await self._exchange.take()) is not None:
            yield piece

    async def aclose(self) -> None:
        self._exchange.leave()


class AsgiBridge(httpx.AsyncBaseTransport):
    """An httpx transport; the application's tasks run in `group`."""

    def __init__(self, app: ASGIApp, group: asyncio.TaskGroup) -> None:
        self._app = app
        self._group = group

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(await request.aread())
        self._group.create_task(self._run(request, exchange))
        async with asyncio.timeout(WAIT_S):
            await exchange.has_head.wait()
        head = exchange.head
        return httpx.Response(head["status"], headers=head["headers"], stream=_Body(exchange))

    async def _run(self, request: httpx.Request, exchange: _Exchange) -> None:
        await self._app(_scope(request), exchange.receive, exchange.send)
        exchange.end()


def _scope(request: httpx.Request) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 50_000),
        "server": (request.url.host, request.url.port),
        "state": {},
    }


@asynccontextmanager
async def bridge_client(
    app: ASGIApp, base_url: str, token: str | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """An httpx client of `app`; all of its requests are over when the block ends."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with asyncio.TaskGroup() as group:
        transport = AsgiBridge(app, group)
        async with httpx.AsyncClient(
            transport=transport, base_url=base_url, headers=headers, timeout=WAIT_S
        ) as client:
            yield client


class SseReader:
    """Reads the frames of an open event stream, as slowly as the test likes."""

    def __init__(self, response: httpx.Response) -> None:
        self.parser = SseParser()
        self._pieces = response.aiter_raw()
        self._frames: list[SseFrame] = []

    async def next(self) -> SseFrame:
        """The next frame. Raises: EOFError at the end of the stream; TimeoutError."""
        while not self._frames:
            self._frames = self.parser.feed(await self.piece())[::-1]
        return self._frames.pop()

    async def take(self, count: int) -> list[SseFrame]:
        """The next `count` frames."""
        return [await self.next() for _ in range(count)]

    async def piece(self) -> bytes:
        """The next raw piece."""
        try:
            async with asyncio.timeout(WAIT_S):
                return await anext(self._pieces)
        except StopAsyncIteration as error:
            raise EOFError("the stream ended") from error
