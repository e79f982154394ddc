"""The stream's socket: bounded waits, clear errors, nothing left open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_tui.client.livesocket import open_stream
from support.fake_server import runtime_at

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Peer:
    """A raw peer: what it was sent, and whether the client closed."""

    def __init__(self, say: bytes, *, hangs_up: bool) -> None:
        self._say = say
        self._hangs_up = hangs_up
        self.request = b""
        self.closed = asyncio.Event()

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.request = await reader.readuntil(b"\r\n\r\n")
        writer.write(self._say)
        await writer.drain()
        if not self._hangs_up:
            await reader.read()
        self.closed.set()
        writer.close()


@asynccontextmanager
async def peer(say: bytes, *, hangs_up: bool = True) -> AsyncIterator[tuple[Peer, str]]:
    spoken = Peer(say, hangs_up=hangs_up)
    server = await asyncio.start_server(spoken.speak, "127.0.0.1", 0)
    try:
        yield spoken, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        async with asyncio.timeout(5):
            await spoken.closed.wait()
        server.close()


async def read_all(url: str, silence_s: float = 5.0, token: str = "secret") -> bytes:
    async with open_stream(
        runtime_at(url, token), "/api/events?a=1", {"x-y": "z"}, silence_s
    ) as body:
        return b"".join([data async for data in body])


async def test_the_request_is_whole_and_carries_the_token() -> None:
    async with peer(CHUNKED + b"2\r\nhi\r\n0\r\n\r\n") as (spoken, url):
        assert await read_all(url) == b"hi"
    lines = spoken.request.decode().split("\r\n")
    assert lines[0] == "GET /api/events?a=1 HTTP/1.1"
    assert {"authorization: Bearer secret", "x-y: z", f"host: {url[7:]}"} <= set(lines)


async def test_a_body_without_chunks_ends_with_the_connection() -> None:
    async with peer(HEAD + b"\r\nall of it") as (_, url):
        assert await read_all(url) == b"all of it"


async def test_what_is_there_together_comes_together() -> None:
    say = CHUNKED + b"2\r\nhi\r\n" * 50 + b"0\r\n\r\n"
    async with peer(say) as (_, url), open_stream(runtime_at(url), "/", {}, 5.0) as body:
        pieces = [data async for data in body]
    assert b"".join(pieces) == b"hi" * 50
    assert len(pieces) < 10


@pytest.mark.parametrize(
    ("say", "words"),
    [
        (CHUNKED + b"5\r\nab", "the connection broke"),
        (b"", "the connection broke"),
        (HEAD[:20], "the connection broke"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "is not the GroupX server"),
        (b"x" * 100_000, "is not the GroupX server"),
        (CHUNKED + b"zz\r\n", "is not the GroupX server"),
        (b"HTTP/1.1 502 X\r\n\r\nBad gateway", "is not the GroupX server"),
    ],
)
async def test_a_broken_answer_is_an_error(say: bytes, words: str) -> None:
    async with peer(say) as (_, url):
        with pytest.raises(ServerUnreachableError, match=words):
            await read_all(url)


@pytest.mark.parametrize("say", [b"", CHUNKED])
async def test_a_silent_server_is_left_and_the_socket_closed(say: bytes) -> None:
    async with peer(say, hangs_up=False) as (spoken, url):
        with pytest.raises(ServerUnreachableError, match="no answer in time"):
            await read_all(url, silence_s=0.05)
    assert spoken.closed.is_set()


async def test_a_refusal_keeps_its_code() -> None:
    body = b'{"error": {"code": "STORE_CONFLICT", "message": "No such place."}}'
    say = b"HTTP/1.1 409 Conflict\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    async with peer(say) as (_, url):
        with pytest.raises(RefusedError, match="No such place") as caught:
            await read_all(url)
    assert caught.value.code == ErrorCode.STORE_CONFLICT


async def test_nothing_listening_is_said() -> None:
    with pytest.raises(ServerUnreachableError, match="nothing listens there"):
        await read_all("http://127.0.0.1:9")


async def test_a_token_cannot_add_lines_to_the_request() -> None:
    async with peer(CHUNKED) as (spoken, url):
        with pytest.raises(ServerUnreachableError, match="two lines"):
            await read_all(url, token="a\r\nx: y")
        spoken.closed.set()
    assert spoken.request == b""


async def test_leaving_early_closes_the_socket() -> None:
    async with peer(CHUNKED + b"2\r\nhi\r\n", hangs_up=False) as (spoken, url):
        async with open_stream(runtime_at(url), "/", {}, 5.0) as body:
            assert await anext(body) == b"hi"
        async with asyncio.timeout(5):
            await spoken.closed.wait()
