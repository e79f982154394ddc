"""The web view's server: what is served to whom, and what a window says and is told."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from groupx_tui.web.server import MAX_WINDOWS, SIDE
from support.waiting import eventually
from tui.web.conftest import House

pytestmark = [pytest.mark.slow, pytest.mark.process]
PATHS = ["/", "/page.js", "/page.css", "/static/js/textual.js", "/ws", "/open", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_served_to_a_name_that_was_rebound(house: House, path: str) -> None:
    headers = {"Host": f"evil.example:{house.view.gate.port}"}
    async with house.client.get(house.url(path), headers=headers) as reply:
        assert reply.status == 403
        assert "Host is" in await reply.text()
    assert "evil.example" in house.said[-1]


async def test_the_page_holds_no_secret_and_may_not_be_framed(house: House) -> None:
    link = house.view.gate.new_link()
    key = house.key()
    for path in ("/", "/page.js", "/page.css"):
        async with house.client.get(house.url(path)) as reply:
            assert reply.status == 200
            text = await reply.text()
            assert link.partition("#")[2] not in text
            assert key not in text
            assert reply.headers["X-Frame-Options"] == "DENY"
            assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
            assert reply.headers["Cache-Control"] == "no-store"
            assert "Set-Cookie" not in reply.headers
            assert "Access-Control-Allow-Origin" not in reply.headers


async def test_all_that_the_page_loads_is_here(house: House) -> None:
    async with house.client.get(house.url("/")) as reply:
        page = await reply.text()
    async with house.client.get(house.url("/page.css")) as reply:
        page += await reply.text()
    assert "https://" not in page
    assert "//fonts" not in page
    fonts = ["/static/fonts/RobotoMono-VariableFont_wght.ttf", "/static/css/xterm.css"]
    for path in ["/static/js/textual.js", *fonts]:
        async with house.client.get(house.url(path)) as reply:
            assert reply.status == 200, path
    async with house.client.get(house.url("/static/js/")) as reply:
        assert reply.status == 403, "a folder is listed"


async def test_a_link_is_redeemed_by_our_page_alone_and_once(house: House) -> None:
    secret = house.view.gate.new_link().partition("#")[2]
    for origin in (None, "null", "http://127.0.0.1:3000", "http://evil.example"):
        headers: dict[str, str] = {} if origin is None else {"Origin": origin}
        async with house.client.post(house.url("/open"), data=secret, headers=headers) as reply:
            assert reply.status == 403
    headers = {"Origin": house.origin}
    async with house.client.post(house.url("/open"), data=secret, headers=headers) as reply:
        assert reply.status == 200
        assert house.view.gate.admits(f"groupx, key.{await reply.text()}")
    async with house.client.post(house.url("/open"), data=secret, headers=headers) as reply:
        assert reply.status == 401
    async with house.client.post(house.url("/open"), data="x" * 4000, headers=headers) as reply:
        assert reply.status == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example"},
    ],
)
async def test_another_page_gets_no_window_even_with_a_key(
    house: House, headers: dict[str, str]
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await house.window(**headers)
    assert refused.value.status == 403
    assert not house.view.sockets


async def test_a_program_that_says_no_origin_gets_no_window(house: House) -> None:
    protocols = ("groupx", f"key.{house.key()}")
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await house.client.ws_connect(house.url("/ws"), protocols=protocols)
    assert refused.value.status == 403


async def test_without_a_key_there_is_no_window(house: House) -> None:
    headers = {"Origin": house.origin}
    for protocols in [(), ("groupx",), ("groupx", "key.0")]:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await house.client.ws_connect(house.url("/ws"), protocols=protocols, headers=headers)
        assert refused.value.status == 401
    assert not house.view.sockets


async def test_a_window_is_drawn_typed_into_and_resized(house: House) -> None:
    async with house.window() as window:
        drawn = await window.receive_bytes(timeout=5)
        assert drawn.startswith(b"size 100 30 pid ")
        assert await window.receive_json(timeout=5) == ["title", "a window"]
        opened = ["open_url", {"url": "https://example.org", "new_tab": True}]
        assert await window.receive_json(timeout=5) == opened, "no script is opened as an address"
        await window.send_str(json.dumps(["stdin", "你好"]))
        assert await window.receive_bytes(timeout=5) == "D你好".encode()
        await window.send_str(json.dumps(["resize", {"width": 10**9, "height": -1}]))
        told = json.loads((await window.receive_bytes(timeout=5))[1:])
        assert told == {"type": "resize", "width": SIDE.stop - 1, "height": SIDE.start}
        await window.send_str(json.dumps(["ping", "7"]))
        assert await window.receive_json(timeout=5) == ["pong", "7"]


async def test_a_megabyte_is_pasted_at_once(house: House) -> None:
    async with house.window() as window:
        for _ in range(3):
            await window.receive(timeout=5)
        pasted = "好" * 1_000_000
        await window.send_str(json.dumps(["stdin", pasted]))
        assert await window.receive_bytes(timeout=5) == b"D" + pasted.encode()


@pytest.mark.parametrize("said", ["nonsense", "[]", "7", '["resize", 7]', '["resize", {}]'])
async def test_what_is_not_understood_ends_the_window(house: House, said: str) -> None:
    async with house.window() as window:
        for _ in range(3):
            await window.receive(timeout=5)
        await window.send_str(said)
        ended = await window.receive(timeout=5)
        assert ended.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
    await asyncio.to_thread(eventually, lambda: not house.view.sockets)


async def test_the_window_ends_with_its_tab_and_the_tab_with_its_window(house: House) -> None:
    async with house.window() as window:
        pid = int((await window.receive_bytes(timeout=5)).rpartition(b" ")[2])
    await asyncio.to_thread(eventually, lambda: not is_alive(pid))
    async with house.window() as window:
        for _ in range(3):
            await window.receive(timeout=5)
        await window.send_str(json.dumps(["stdin", "end"]))
        assert await window.receive_bytes(timeout=5) == b"Dend"
        assert (await window.receive(timeout=5)).type == aiohttp.WSMsgType.CLOSE


async def test_a_window_that_does_not_open_says_why(house: House) -> None:
    house.view.command = ["sh", "-c", "echo no such theme >&2; exit 1"]
    async with house.window() as window:
        kind, sentence = await window.receive_json(timeout=5)
        assert kind == "notice"
        assert "did not open" in sentence
    house.view.command = ["/nowhere/at-all"]
    async with house.window() as window:
        assert (await window.receive(timeout=5)).type == aiohttp.WSMsgType.CLOSE
    assert "cannot be started" in house.said[-1]


async def test_there_are_only_so_many_windows(house: House) -> None:
    async with asyncio.timeout(20):
        windows = [await house.window() for _ in range(MAX_WINDOWS)]
        for window in windows:
            await window.receive_bytes(timeout=5)
        async with house.window() as one_more:
            ended = await one_more.receive(timeout=5)
            assert ended.type == aiohttp.WSMsgType.CLOSE
            assert "close one" in str(ended.extra)
        for window in windows:
            await window.close()


def is_alive(pid: int) -> bool:
    """Whether the process runs (one that ended and was not waited for does not)."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return ") Z " not in file.read()
    except (FileNotFoundError, ProcessLookupError):  # gone, before or while we read
        return False
