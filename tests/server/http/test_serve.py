"""Serving for real: a loopback socket, true back-pressure, and an end that does not wait."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest

from groupx_server.http.serve import HttpServer, bind_loopback, loop_factory
from groupx_shared.errors import ConfigError
from groupx_shared.wire.sse import SseParser
from support.asgi_bridge import WAIT_S
from support.http_app import AS_OPERATOR, TOKEN, HttpApp, http_app, settle


@dataclass(slots=True)
class Served:
    """A server that listens, and what lies behind it."""

    parts: HttpApp
    server: HttpServer
    stop: asyncio.Event

    async def request(self, head: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send raw bytes on a connection of its own; return status and the rest."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            writer.write(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
            async with asyncio.timeout(WAIT_S):
                status = int((await reader.readline()).split()[1])
                return status, await reader.read()
        finally:
            writer.close()

    def head(self, method: str, path: str, *headers: str) -> str:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.server.port}"]
        lines += [f"Authorization: Bearer {TOKEN}", "Connection: close", *headers, ""]
        return "\n".join(lines)


@asynccontextmanager
async def serving(grace_s: float = 1.0) -> AsyncIterator[Served]:
    sock = bind_loopback()
    stop = asyncio.Event()
    async with http_app(port=sock.getsockname()[1]) as parts:
        server = HttpServer(parts.app, sock, grace_s=grace_s)
        async with asyncio.timeout(4 * WAIT_S), asyncio.TaskGroup() as group:
            group.create_task(server.run(stop))
            await server.is_ready.wait()
            yield Served(parts, server, stop)
            parts.state.close()
            stop.set()


def client_of(served: Served) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=served.server.url, headers=AS_OPERATOR)


def small_client() -> socket.socket:
    """A client that takes little: its receive buffer is as small as the system allows."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)
    return client


@pytest.mark.slow
async def test_a_request_over_the_socket_is_answered() -> None:
    async with serving() as served, client_of(served) as client:
        assert (await client.get("/api/health")).json()["status"] == "ok"
        body = {"clientCommandId": "1", "content": "hi"}
        assert (await client.post("/api/messages", json=body)).status_code == 202
        assert "server" not in (await client.get("/api/rooms")).headers


@pytest.mark.slow
async def test_the_port_in_host_must_be_ours() -> None:
    async with serving() as served:
        own = served.head("GET", "/api/health")
        assert (await served.request(own + "\n"))[0] == 200
        other = own.replace(f":{served.server.port}", ":1")
        assert (await served.request(other + "\n"))[0] == 403
        named = own.replace("127.0.0.1", "evil.example")
        assert (await served.request(named + "\n"))[0] == 403
        nameless = "GET /api/health HTTP/1.0\nConnection: close\n\n"
        assert (await served.request(nameless))[0] == 403


@pytest.mark.slow
async def test_ten_megabytes_over_the_socket_are_refused_with_a_sentence() -> None:
    body = b'{"content":"' + b"x" * 10_000_000 + b'"}'

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    async with serving() as served, client_of(served) as client:
        headers = {"content-type": "application/json"}
        declared = await client.post("/api/messages", content=body, headers=headers)
        assert declared.json()["error"]["details"]["size"] == len(body)
        chunked = await client.post("/api/messages", content=pieces(), headers=headers)
        assert (declared.status_code, chunked.status_code) == (413, 413)
        assert (await client.get("/api/rooms")).status_code == 200


@pytest.mark.slow
async def test_bytes_that_are_no_http_do_no_harm() -> None:
    async with serving() as served:
        assert (await served.request("\x00\x01\x02 garbage\n\n"))[0] == 400
        assert (await served.request(served.head("GET", "/api/rooms") + "\n"))[0] == 200


@pytest.mark.slow
async def test_a_reader_that_stops_reading_stops_the_replay_and_then_gets_everything() -> None:
    async with serving() as served:
        ledger = served.parts.ledger
        ledger.commit(4_000, content="x" * 1_000)
        client = small_client()
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, ("127.0.0.1", served.server.port))
        head = served.head("GET", "/api/events?afterSeq=0") + "\n"
        await loop.sock_sendall(client, head.replace("\n", "\r\n").encode())
        reads = -1
        while reads != ledger.reads:  # until back-pressure has stopped the server
            reads = ledger.reads
            for _ in range(2_000):
                await asyncio.sleep(0)
        assert reads < 15, "the server read on although nobody took anything"
        ledger.commit(10)
        seqs = await read_seqs(client, 4_010)
        client.close()
        assert seqs == list(range(1, 4_011))


async def read_seqs(client: socket.socket, last: int) -> list[int]:
    reader, writer = await asyncio.open_connection(sock=client)
    try:
        async with asyncio.timeout(4 * WAIT_S):
            await reader.readuntil(b"\r\n\r\n")
            parser, seqs = SseParser(), list[int]()
            while not seqs or seqs[-1] < last:
                size = int(await reader.readline(), 16)
                frames = parser.feed(await reader.readexactly(size))
                await reader.readline()
                seqs += [int(frame.event_id or 0) for frame in frames]
        return seqs
    finally:
        writer.close()


@pytest.mark.slow
async def test_a_stop_ends_open_streams_at_once() -> None:
    loop = asyncio.get_running_loop()
    async with (
        serving(grace_s=30) as served,
        client_of(served) as client,
        client.stream("GET", "/api/events") as response,
    ):
        pieces = response.aiter_raw()
        await anext(pieces)
        await settle(lambda: served.parts.hub.subscriber_count == 1)
        started = loop.time()
        served.parts.state.close()
        served.stop.set()
        assert [piece async for piece in pieces] == []
    assert loop.time() - started < 2


@pytest.mark.slow
async def test_a_stop_does_not_wait_for_a_reader_that_reads_nothing() -> None:
    loop = asyncio.get_running_loop()
    async with serving(grace_s=0.3) as served:
        served.parts.ledger.commit(4_000, content="x" * 1_000)
        client = small_client()
        await loop.sock_connect(client, ("127.0.0.1", served.server.port))
        head = served.head("GET", "/api/events?afterSeq=0") + "\n"
        await loop.sock_sendall(client, head.replace("\n", "\r\n").encode())
        await settle(lambda: served.parts.ledger.reads > 1)
        started = loop.time()
    assert loop.time() - started < 2
    client.close()


@pytest.mark.slow
async def test_a_cancelled_server_leaves_no_socket_behind() -> None:
    sock = bind_loopback()
    port = sock.getsockname()[1]
    async with http_app(port=port) as parts, asyncio.TaskGroup() as group:
        server = HttpServer(parts.app, sock)
        running = group.create_task(server.run(asyncio.Event()))
        await server.is_ready.wait()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await settle(lambda: True)
        running.cancel()
        async with asyncio.timeout(WAIT_S):
            assert await reader.read() == b""
        writer.close()
    bind_loopback(port=port).close()


def test_a_taken_port_is_a_sentence_with_a_remedy() -> None:
    first = bind_loopback()
    port = first.getsockname()[1]
    with pytest.raises(ConfigError, match=f"Port {port} on 127.0.0.1 is taken") as caught:
        bind_loopback("localhost", port)
    assert "server.port" in caught.value.message
    first.close()


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "needs rights"), (errno.EADDRNOTAVAIL, "cannot listen on ::1")],
)
def test_an_address_that_cannot_be_had_is_a_sentence(
    number: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(socket.socket):
        def bind(self, address: object) -> None:
            raise OSError(number, "as the system says")

    monkeypatch.setattr(socket, "socket", Refusing)
    with pytest.raises(ConfigError, match=words):
        bind_loopback("::1", 80)


async def test_replies_do_not_wait_for_acknowledgements() -> None:
    accepted: asyncio.Queue[int] = asyncio.Queue()

    def on_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sock = writer.get_extra_info("socket")
        accepted.put_nowait(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    sock = bind_loopback()
    port = sock.getsockname()[1]
    async with await asyncio.start_server(on_client, sock=sock):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(WAIT_S):
            assert await accepted.get() == 1, "Nagle's algorithm is on"
        writer.close()


def test_only_loopback_is_bound_and_a_free_port_is_found() -> None:
    with bind_loopback() as first, bind_loopback() as second:
        assert first.getsockname()[0] == "127.0.0.1"
        assert first.getsockname()[1] != second.getsockname()[1] != 0


def test_the_loop_is_uvloops_where_it_is_installed() -> None:
    pytest.importorskip("uvloop")
    factory = loop_factory()
    assert factory is not None
    loop = factory()
    assert type(loop).__module__.startswith("uvloop")
    loop.close()
