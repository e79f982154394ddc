"""A web view on a free port, whose windows are tiny programs."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from groupx_tui.web.server import WebView, new_gate

WINDOW = """
import json, os, sys
out = sys.stdout.buffer
def packet(kind, data):
    out.write(kind + len(data).to_bytes(4, "big") + data); out.flush()
print("__GANGLION__", flush=True)
size = os.environ["COLUMNS"], os.environ["ROWS"]
packet(b"D", ("size %s %s pid %d" % (*size, os.getpid())).encode())
packet(b"M", json.dumps({"type": "title", "title": "a window"}).encode())
packet(b"M", json.dumps({"type": "open_url", "url": "javascript:alert(1)"}).encode())
packet(b"M", json.dumps({"type": "open_url", "url": "https://example.org"}).encode())
while head := sys.stdin.buffer.read(5):
    data = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    packet(b"D", head[:1] + data)
    if data in (b"end", b'{"type": "quit"}'):
        break
"""


@dataclass
class House:
    """A running web view, and a browser's way to it."""

    view: WebView
    client: aiohttp.ClientSession
    said: list[str]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.view.gate.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    def url(self, path: str) -> str:
        return self.origin + path

    def key(self) -> str:
        """A key, as a page gets it."""
        key = self.view.gate.redeem(self.view.gate.new_link().partition("#")[2])
        assert key is not None
        return key

    def window(
        self, **headers: str
    ) -> aiohttp.client._BaseRequestContextManager[aiohttp.ClientWebSocketResponse]:
        """A window, as the page opens it; `headers` replace what the page would say."""
        sent = {"Origin": self.origin} | headers
        return self.client.ws_connect(
            self.url("/ws?width=100&height=30"),
            protocols=("groupx", f"key.{self.key()}"),
            headers=sent,
        )


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    program = tmp_path / "window.py"
    program.write_text(WINDOW)
    said: list[str] = []
    view = WebView(new_gate(0), "", "", said.append, [sys.executable, "-S", str(program)])
    runner = web.AppRunner(view.application(), access_log=None, shutdown_timeout=5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    view.gate.port = int(runner.addresses[0][1])
    async with aiohttp.ClientSession() as client:
        yield House(view, client, said)
    await runner.cleanup()
