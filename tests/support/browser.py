"""A tab of a real, headless Chromium, driven through the browser's own protocol."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from support.waiting import eventually

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PATIENCE_S = 60.0


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method and return its result."""
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            reply = await self._socket.receive_json(timeout=PATIENCE_S)
            if reply.get("id") == self._number:
                assert "error" not in reply, reply
                result: dict[str, Any] = reply["result"]
                return result

    async def value(self, script: str) -> Any:
        """What a script in the page comes to."""
        reply = await self.call("Runtime.evaluate", expression=script, awaitPromise=True)
        return reply["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until a script in the page says yes."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self.value(script):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)

    async def go(self, url: str) -> None:
        """Open an address."""
        await self.call("Page.navigate", url=url)


@asynccontextmanager
async def open_page(profile: Path, size: tuple[int, int] = (1200, 800)) -> AsyncIterator[Page]:
    """A browser with one empty tab; it ends with the block."""
    assert BROWSER is not None
    browser = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
        [
            BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--remote-debugging-port=0", f"--user-data-dir={profile}",
            f"--window-size={size[0]},{size[1]}", "about:blank",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        port_file = profile / "DevToolsActivePort"
        await asyncio.to_thread(
            eventually, lambda: port_file.exists() and bool(port_file.read_text())
        )
        port = port_file.read_text().splitlines()[0]
        async with aiohttp.ClientSession() as client:
            async with client.get(f"http://127.0.0.1:{port}/json/list") as reply:
                tabs = [each for each in await reply.json() if each["type"] == "page"]
            address = tabs[0]["webSocketDebuggerUrl"]
            async with client.ws_connect(address, max_msg_size=0) as socket:
                yield Page(socket)
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait(PATIENCE_S)
