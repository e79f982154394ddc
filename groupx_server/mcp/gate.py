"""An endpoint of tools as an ASGI application: whose token it is, and the way to the SDK's server.

Host and Origin were checked before (`http/origin`). The SDK is loaded when the first token is
made, off the loop, while the agent's program starts; requests that come earlier wait for it. A
caller that goes away ends its call: nobody is waited for on behalf of a program that is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groupx_server.logs import get_logger
from groupx_server.mcp.desk import Desk
from groupx_server.mcp.lean import without_init
from groupx_shared.errors import ErrorCode
from groupx_shared.wire.requests import MAX_BODY_BYTES

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

CALLER_KEY: Final = "groupx.caller"
"""Key of who calls in the ASGI scope; set from the token, and from nothing else."""

READY_WITHIN_S: Final = 30.0
"""Loading the SDK takes two seconds on an idle machine."""
BODY_WITHIN_S: Final = 30.0
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
"""Codes of JSON-RPC."""

C = TypeVar("C")

log = get_logger(__name__)


class Gate:
    """`run` belongs into the server's TaskGroup; `want` is called with each token that is made."""

    def __init__(self) -> None:
        self._wanted = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._app: ASGIApp | None = None
        self._find: Callable[[bytes], object | None] = lambda _: None
        self._desk: Desk[Any] | None = None

    def open(self, desk: Desk[C], find: Callable[[bytes], C | None]) -> None:
        """Give it its tools and the table of its tokens, before anybody can call."""
        self._desk = desk
        self._find = find

    def want(self) -> None:
        """An agent will call soon: load what is needed."""
        self._wanted.set()

    async def run(self) -> None:
        """Serve from the first `want` on until cancelled."""
        await self._wanted.wait()
        assert self._desk is not None
        try:
            build = await asyncio.to_thread(_load)
        except Exception:  # task boundary: agents work without tools too
            log.exception("tools.unavailable")
            self._is_ready.set()
            return
        log.info("tools.loaded")
        manager = build(self._desk)
        async with manager.run():
            self._app = manager.handle_request
            self._is_ready.set()
            try:
                await asyncio.Event().wait()
            finally:
                self._app = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = self._caller(scope)
        if caller is None:
            await _refuse(send, 401, INVALID_PARAMS, ErrorCode.MCP_BINDING_MISMATCH, NO_SESSION)
            return
        if scope["method"] != "POST":  # there is no stream to open and no session to delete
            await _refuse(send, 405, INVALID_PARAMS, ErrorCode.METHOD_NOT_ALLOWED, ONLY_POST)
            return
        app = await self._served()
        if app is None:
            await _refuse(send, 503, INTERNAL, ErrorCode.MCP_UNAVAILABLE, NOT_THERE)
            return
        scope[CALLER_KEY] = caller
        await _serve(app, scope, receive, send)

    def _caller(self, scope: Scope) -> object | None:
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, token = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        return self._find(token.strip()) if kind.lower() == b"bearer" else None

    async def _served(self) -> ASGIApp | None:
        try:
            async with asyncio.timeout(READY_WITHIN_S):
                await self._is_ready.wait()
        except TimeoutError:
            log.warning("tools.late", seconds=READY_WITHIN_S)
        return self._app


def _load() -> Callable[[Desk[Any]], StreamableHTTPSessionManager]:
    """Load what we need of the SDK, else all of it; takes a second, so in a thread.

    Another version may need more of itself than this one: then it costs more, and works.
    """
    try:
        with without_init("mcp", "mcp.server"):
            from groupx_server.mcp.sdk import build_manager
    except ImportError:
        log.info("tools.loaded_whole")
        from groupx_server.mcp.sdk import build_manager
    return build_manager


NO_SESSION: Final = (
    "This token belongs to no open session. GroupX gives each session of an agent its own when it "
    "opens it."
)
ONLY_POST: Final = "Only POST: answers come with the request, and nothing is kept between two."
NOT_THERE: Final = "The room's tools are not available; the server's log says why."


async def _refuse(send: Send, status: int, number: int, code: ErrorCode, message: str) -> None:
    error = {"code": number, "message": message, "data": {"code": code.value}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="groupx"'))
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _serve(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request; end it when its client leaves."""
    body = await _body(receive)
    if body is None:
        return
    pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    gone = asyncio.Event()

    async def replay() -> Message:
        if pieces:
            return pieces.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(_run(app, scope, replay, send))
        watching = tasks.create_task(_disconnected(receive))
        await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
        gone.set()
        watching.cancel()
        serving.cancel()


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


async def _body(receive: Receive) -> bytes | None:
    """The whole body, as far as the SDK takes it; None when the client left."""
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            while size <= MAX_BODY_BYTES:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        return None
    return b"".join(pieces)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
