"""The web view in a real browser: a message is typed there, and an agent answers."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from support.browser import BROWSER, PATIENCE_S, Page, open_page
from support.ended import end_all
from support.server_process import SCRIPTED_AGENT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.timeout(180),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium"),
]
KEEPER = """
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"<p>another page</p>")
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
print(server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    agent = {
        "driver": "acp",
        "command": {"executable": sys.executable, "args": [str(SCRIPTED_AGENT)]},
    }
    (tmp_path / "groupx.json").write_text(json.dumps({"agents": {"bot": agent}}))
    return tmp_path


def groupx(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "groupx_tui.cli", *words, "--config", str(folder)]


@pytest.fixture
def link(folder: Path) -> Iterator[str]:
    """The link that a running `groupx web` printed."""
    with subprocess.Popen(
        groupx(folder, "web"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stdout is not None
        yield serving.stdout.readline().strip()
        serving.send_signal(signal.SIGINT)
        assert serving.wait(PATIENCE_S) == 0
    end_all(folder)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with open_page(tmp_path / "profile") as page:
        yield page


async def test_a_message_is_typed_and_answered(folder: Path, link: str, page: Page) -> None:
    await page.go(link)
    await page.until("document.title.startsWith('GroupX ·')")
    await page.until("document.body.classList.contains('-first-byte')")
    assert await page.value("location.hash") == "", "the secret is off the address"
    assert await page.value("document.cookie") == ""
    await page.call("Input.insertText", text="@bot [[say 你好 from a browser]]")
    async with asyncio.timeout(PATIENCE_S):
        while "bot" not in await asyncio.to_thread(answers, folder):
            await press_enter(page)  # refused, and the text kept, until the room is connected
    assert answers(folder)["bot"] == "你好 from a browser"


async def test_a_reload_comes_in_again_and_another_tab_does_not(link: str, page: Page) -> None:
    await page.go(link)
    await page.until("document.title.startsWith('GroupX ·')")
    await page.value("document.title = ''")
    await page.call("Page.reload")
    await page.until("document.title.startsWith('GroupX ·')")
    await page.value("sessionStorage.clear()")
    await page.go(link)
    await page.call("Page.reload")
    await page.until("document.getElementById('notice').textContent.includes('used before')")


async def test_another_local_page_gets_in_nowhere(link: str, page: Page) -> None:
    address = link.partition("#")[0].removesuffix("/")
    with subprocess.Popen(  # noqa: ASYNC220 - it returns at once
        [sys.executable, "-S", "-c", KEEPER], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        port = other.stdout.readline().strip()
        await page.go(link)
        await page.until("document.title.startsWith('GroupX ·')")
        key = await page.value("sessionStorage.getItem('groupx-key')")
        await page.go(f"http://127.0.0.1:{port}/")
        await page.until("document.body && document.body.textContent.includes('another page')")
        assert await page.value("sessionStorage.length") == 0
        socket = address.replace("http:", "ws:") + "/ws"
        script = f"""new Promise(done => {{
            const socket = new WebSocket("{socket}", ["groupx", "key.{key}"]);
            socket.onopen = () => done("open"); socket.onerror = () => done("refused");
        }})"""
        assert await page.value(script) == "refused", "not even with the key"
        read = f"fetch('{address}/').then(r => r.text(), () => 'refused')"
        assert await page.value(read) == "refused"
        other.kill()


async def press_enter(page: Page) -> None:
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
    await page.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
    await page.call("Input.dispatchKeyEvent", type="keyUp", **key)


def answers(folder: Path) -> dict[str, str]:
    """What agents said, by name, as the ledger has it."""
    done = subprocess.run(
        groupx(folder, "history", "--json"), capture_output=True, text=True, check=True
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        event["actor"]["actorId"].removeprefix("agent:"): event["body"]["content"]
        for event in events
        if event["type"] == "message.created" and event["actor"]["actorId"].startswith("agent:")
    }
