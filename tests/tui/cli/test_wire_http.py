"""The small HTTP client: whole replies are read, broken ones never taken for whole."""

from __future__ import annotations

import _socket
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.errors import ServerUnreachableError
from groupx_tui.cli.wire_http import (
    ConnectionLostError,
    Request,
    SilentError,
    open_reply,
    path_of,
)
from support.wire_bytes import ByteServer

GET = Request("GET", "/x", token="t0k")


def whole(*pieces: bytes, hangs: bool = False, patience_s: float = 5.0) -> tuple[int, bytes]:
    with (
        ByteServer(*pieces, hangs=hangs) as server,
        open_reply(server.url, GET, lambda: patience_s) as reply,
    ):
        return reply.status, reply.read()


def test_a_request_carries_host_token_and_length() -> None:
    with ByteServer(b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n") as server:
        request = Request("POST", "/api/x?a=1", token="t0k", body=b'{"a":1}')
        open_reply(server.url, request, lambda: 5.0).close()
        head, _, body = server.received.partition(b"\r\n\r\n")
    host = server.url.removeprefix("http://").encode()
    assert head.split(b"\r\n") == [
        b"POST /api/x?a=1 HTTP/1.1",
        b"Host: " + host,
        b"Connection: close",
        b"Authorization: Bearer t0k",
        b"Content-Type: application/json",
        b"Content-Length: 7",
    ]
    assert body == b'{"a":1}'


def test_a_body_with_a_length() -> None:
    assert whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", b"llo") == (200, b"hello")


def test_a_chunked_body_with_extensions_and_trailers() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
    body = b"3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"
    assert whole(head + body) == (200, b"abc0123456789")


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    assert whole(b"HTTP/1.0 200 OK\r\n\r\n", b"abc") == (200, b"abc")


def test_an_interim_reply_is_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert whole(interim, b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx") == (200, b"x")


@pytest.mark.parametrize(
    "pieces",
    [
        (b"",),
        (b"HTTP/1.1 200",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",),
        (b"HTTP/1.1 two OK\r\n\r\n",),
        (b"SSH-2.0-OpenSSH_9.6\r\n",),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\n",),
    ],
    ids=lambda pieces: repr(pieces[0][:60]),
)
def test_what_is_broken_is_a_lost_connection(pieces: tuple[bytes, ...]) -> None:
    with pytest.raises(ConnectionLostError):
        whole(*pieces)


def test_silence_ends_after_the_patience() -> None:
    with pytest.raises(SilentError):
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", hangs=True, patience_s=0.05)


def test_without_patience_left_nothing_is_waited_for() -> None:
    with pytest.raises(SilentError):
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", patience_s=0.0)


def test_nobody_listening_is_not_a_lost_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ServerUnreachableError) as caught:
        open_reply(f"http://127.0.0.1:{port}", GET, lambda: 1.0)
    assert not isinstance(caught.value, ConnectionLostError)


@pytest.mark.parametrize("url", ["http://127.0.0.1:port", "nonsense", "http://127.0.0.1:99999"])
def test_a_damaged_address_is_nobody_listening(url: str) -> None:
    with pytest.raises(ServerUnreachableError):
        open_reply(url, GET, lambda: 1.0)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_chunks_come_out_as_they_went_in(chunks: list[bytes]) -> None:
    encoded = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert whole(head + encoded) == (200, b"".join(chunks))


def test_paths_are_quoted() -> None:
    assert path_of("api", "rooms", "room:a/b ü?") == "/api/rooms/room:a%2Fb%20%C3%BC%3F"
    query = {"a": "x&y=1", "none": None, "type": ("one", "two"), "n": 0}
    assert path_of("x", query=query) == "/x?a=x%26y%3D1&type=one&type=two&n=0"
    assert path_of("x", query={"a": None}) == "/x"


def test_a_socket_that_meets_itself_is_nobody_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    class MeetingItself(_socket.socket):
        def connect(self, address: object) -> None:
            self.bind(("127.0.0.1", 0))
            super().connect(self.getsockname())

    monkeypatch.setattr("_socket.socket", MeetingItself)
    with pytest.raises(ServerUnreachableError) as caught:
        open_reply("http://127.0.0.1:1", GET, lambda: 1.0)
    assert not isinstance(caught.value, ConnectionLostError)
