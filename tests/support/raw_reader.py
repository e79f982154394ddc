"""Readers of the event stream over bare sockets: greedy ones, and ones that stop reading."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from groupx_shared.runtime import RuntimeFile
from groupx_shared.wire.sse import SseParser

SMALL_BUFFER = 4_096
"""The kernel's receive buffer of a reader that stops: what fits there was read for it."""


class RawReader:
    """One open stream; reads only when told."""

    def __init__(self, runtime: RuntimeFile, after_seq: int = 0, *, small: bool = False) -> None:
        address = urlsplit(runtime.url)
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
        self.socket.settimeout(20)
        assert address.hostname is not None
        self.socket.connect((address.hostname, address.port))
        request = (
            f"GET /api/events?afterSeq={after_seq} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Authorization: Bearer {runtime.token}\r\n\r\n"
        )
        self.socket.sendall(request.encode())
        self._parser = SseParser()
        self._rest = b""
        self._head: bytes | None = None

    def __enter__(self) -> RawReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def seqs(self, until: int) -> list[int]:
        """Read until the event with this seq came; return the seqs of all durable ones."""
        found: list[int] = []
        for seq in self._durable():
            found.append(seq)
            if seq >= until:
                return found
        raise AssertionError(f"the stream ended after {found[-1:]}, before {until}")

    def _durable(self) -> Iterator[int]:
        while data := self.socket.recv(65_536):
            for frame in self._parser.feed(self._body(data)):
                seq = json.loads(frame.data).get("seq")
                if seq is not None:
                    yield seq

    def _body(self, data: bytes) -> bytes:
        """The stream without its head and the lengths of its chunks."""
        self._rest += data
        if self._head is None:
            head, found, rest = self._rest.partition(b"\r\n\r\n")
            if not found:
                return b""
            assert b" 200 " in head.splitlines()[0], head
            self._head, self._rest = head, rest
        body = b""
        while True:
            size_line, found, rest = self._rest.partition(b"\r\n")
            if not found:
                return body
            size = int(size_line, 16)
            if len(rest) < size + 2:
                return body
            body += rest[:size]
            self._rest = rest[size + 2 :]
