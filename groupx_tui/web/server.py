"""The web view's server: a page, Textual's terminal for browsers, and a WebSocket for each window.

Bound to 127.0.0.1 only. Every request passes the gate first: Host, then the page that asks, then
(for a window) the key; none of these can be left out by a route, since they stand before all
routes. Counterparts: `gate` decides, `child` runs the windows, `front/` is what browsers load.
"""

from __future__ import annotations

import asyncio
import importlib.resources
import json
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import WSCloseCode, WSMsgType, web

from groupx_tui.web.child import (
    WindowFailedError,
    WindowProcess,
    open_window,
    window_command,
    window_environment,
)
from groupx_tui.web.gate import PROTOCOL, Gate

MAX_WINDOWS: Final = 8
"""Each is a process of about 65 MB."""
MAX_MESSAGE: Final = 8 * 1024 * 1024
"""A paste of a megabyte, whatever its characters, as JSON."""
MAX_SECRET: Final = 256
HEARTBEAT_S: Final = 20.0
SIDE: Final = range(2, 1001)
"""Columns or rows that a browser may ask for."""
FRONT: Final = {
    "/": ("index.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class WebView:
    """What one `groupx web` serves."""

    gate: Gate
    config: str
    room: str
    say: Callable[[str], object]
    """Takes a sentence for the person at the terminal."""
    command: list[str] = field(default_factory=list)
    """The window's command line, when it is another one (tests)."""
    sockets: set[web.WebSocketResponse] = field(default_factory=set)

    def application(self) -> web.Application:
        """The application, gate and all."""
        made = web.Application(middlewares=[self._guard], client_max_size=MAX_SECRET)
        made.router.add_post("/open", self._open)
        made.router.add_get("/ws", self._window)
        for path in FRONT:
            made.router.add_get(path, _front)
        static = Path(str(importlib.resources.files("textual_serve"))) / "static"
        made.router.add_static("/static", static)
        made.on_shutdown.append(self._close_all)
        return made

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Host and page first, on every path."""
        hosts = request.headers.getall("Host", [])
        why = self.gate.foreign_host(hosts)
        if why is None and request.path not in FRONT:
            origins = request.headers.getall("Origin", [])
            sites = request.headers.getall("Sec-Fetch-Site", [])
            must_say = request.path in ("/open", "/ws")
            why = self.gate.foreign_page(hosts[0], origins, sites, must_say=must_say)
        if why is not None:
            self.say(f"Refused a request for {request.path[:80]}: {why}.")
            return _closed(request, 403, f"{why}.\n")
        try:
            reply = await handler(request)
        except web.HTTPException as error:
            return _closed(request, error.status, f"{error.reason}\n")
        if not reply.prepared:
            reply.headers.update(_headers(request))
        return reply

    async def _open(self, request: web.Request) -> web.StreamResponse:
        """Trade the secret of a link for a key."""
        key = self.gate.redeem((await request.text()).strip())
        if key is None:
            self.say("Refused a link: it was used before, is too old, or was never printed.")
            return web.Response(status=401, text="This link is not valid.\n")
        self.say("A browser used the link.")
        return web.Response(text=key)

    async def _window(self, request: web.Request) -> web.StreamResponse:
        """One window, for as long as the tab is open."""
        if not self.gate.admits(request.headers.get("Sec-WebSocket-Protocol", "")):
            self.say("Refused a window: the page has no key.")
            return web.Response(status=401, text="There is no key, or not a valid one.\n")
        socket = web.WebSocketResponse(
            protocols=(PROTOCOL,), heartbeat=HEARTBEAT_S, max_msg_size=MAX_MESSAGE, compress=False
        )
        await socket.prepare(request)
        if len(self.sockets) >= MAX_WINDOWS:
            reason = f"There are {MAX_WINDOWS} windows already; close one and reload.".encode()
            await socket.close(code=WSCloseCode.TRY_AGAIN_LATER, message=reason)
            return socket
        self.sockets.add(socket)
        try:
            await self._serve(socket, _side(request, "width", 80), _side(request, "height", 24))
        finally:
            self.sockets.discard(socket)
        return socket

    async def _serve(self, socket: web.WebSocketResponse, width: int, height: int) -> None:
        command = self.command or window_command(self.config, self.room)
        environment = window_environment(os.environ, width, height)
        try:
            async with open_window(command, environment) as window, asyncio.TaskGroup() as tasks:
                words = tasks.create_task(window.keep_words())
                shown = tasks.create_task(self._show(socket, window))
                await _read(socket, window)
                shown.cancel()
                await window.stop()
                words.cancel()
        except* WindowFailedError as failed:
            for error in failed.exceptions:
                self.say(str(error))

    async def _show(self, socket: web.WebSocketResponse, window: WindowProcess) -> None:
        """Hand the window's drawing on, and close the socket when it ends."""
        try:
            async for kind, payload in window.packets():
                if kind == "D":
                    await socket.send_bytes(payload)
                elif kind == "M":
                    await _hand_on(socket, payload)
        except ConnectionError:
            return  # the tab is gone; reading from it ends too
        except WindowFailedError as error:
            self.say(error.message)
            with suppress(ConnectionError):
                await socket.send_str(json.dumps(["notice", error.message]))
        await socket.close()

    async def _close_all(self, made: web.Application) -> None:
        for socket in set(self.sockets):
            await socket.close(code=WSCloseCode.GOING_AWAY, message=b"groupx web has ended.")


def new_gate(port: int) -> Gate:
    """A gate on the machine's own clock."""
    return Gate(port, time.monotonic)


async def _front(request: web.Request) -> web.StreamResponse:
    name, kind = FRONT[request.path]
    folder = importlib.resources.files("groupx_tui.web") / "front"
    return web.Response(text=(folder / name).read_text("utf-8"), content_type=kind)


async def _read(socket: web.WebSocketResponse, window: WindowProcess) -> None:
    """Hand on what the browser says until it goes, or says what is none of the protocol."""
    async for message in socket:
        if message.type != WSMsgType.TEXT:
            continue
        try:
            await _take(socket, window, message.data)
        except (ValueError, TypeError, KeyError, IndexError):
            await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"Not understood.")


async def _take(socket: web.WebSocketResponse, window: WindowProcess, text: str) -> None:
    words = json.loads(text)
    kind = words[0]
    if kind == "stdin":
        await window.type(str(words[1]))
    elif kind == "resize":
        width, height = _bounded(int(words[1]["width"])), _bounded(int(words[1]["height"]))
        await window.tell({"type": "resize", "width": width, "height": height})
    elif kind in ("focus", "blur"):
        await window.tell({"type": kind})
    elif kind == "ping":
        await socket.send_str(json.dumps(["pong", str(words[1])[:40]]))


async def _hand_on(socket: web.WebSocketResponse, payload: bytes) -> None:
    """What the window asks of the browser; files it would deliver stay with it."""
    meta: dict[str, Any] = json.loads(payload)
    if meta.get("type") == "title":
        await socket.send_str(json.dumps(["title", str(meta.get("title", ""))]))
    elif meta.get("type") == "open_url":
        url = str(meta.get("url", ""))
        if url.startswith(("https://", "http://")):
            await socket.send_str(json.dumps(["open_url", {"url": url, "new_tab": True}]))


def _bounded(number: int) -> int:
    return min(max(number, SIDE.start), SIDE.stop - 1)


def _side(request: web.Request, name: str, default: int) -> int:
    value = request.query.get(name, "")
    return _bounded(int(value)) if value.isascii() and value.isdigit() else default


def _closed(request: web.Request, status: int, text: str) -> web.Response:
    reply = web.Response(status=status, text=text)
    reply.headers.update(_headers(request))
    return reply


def _headers(request: web.Request) -> dict[str, str]:
    """What keeps the page to itself. Styles in place are what Textual's terminal draws with."""
    own = request.headers.get("Host", "")
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        f"font-src 'self'; img-src 'self' data:; connect-src 'self' ws://{own}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    safe_host = own.replace(":", "").replace(".", "").isalnum()
    return {
        "Content-Security-Policy": policy if safe_host else "default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
