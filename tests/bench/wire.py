"""A client with as little of its own as can be: HTTP/1.1 over one connection, and event streams.

What it costs is in every figure, so it does not parse what nobody asks for. Counterpart: the
server's `http` package, from which it takes nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

LENGTH = re.compile(rb"content-length: (\d+)")
TYPE = re.compile(rb'"type":"([a-z._]+)"')
STEP_S = 60.0
"""Bound of every single wait."""
CHUNK = 262_144


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and the right to speak with it."""

    port: int
    token: str

    @classmethod
    def of(cls, url: str, token: str) -> Self:
        """From a runtime file's URL."""
        return cls(int(url.rpartition(":")[2]), token)

    def head(self, method: str, path: str, length: int = 0) -> bytes:
        """The head of a request."""
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\n\r\n"
        ).encode()


class Connection:
    """One kept connection; a request at a time."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(
            "127.0.0.1", self._address.port, limit=CHUNK
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send a request and return the body of the answer. Raises: RuntimeError when refused."""
        async with asyncio.timeout(STEP_S):
            self._writer.write(self._address.head(method, path, len(body)) + body)
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head.lower())
            if length is None:
                raise RuntimeError(f"{path}: an answer without a length: {head[:200]!r}")
            answer = await self._reader.readexactly(int(length[1]))
        if head[9:10] != b"2":
            raise RuntimeError(f"{path}: {head[:40]!r} {answer[:300]!r}")
        return answer

    async def get(self, path: str) -> bytes:
        """GET."""
        return await self.ask("GET", path)

    async def json(self, path: str) -> Any:
        """GET, parsed."""
        return json.loads(await self.get(path))

    async def send(self, content: str, to: tuple[str, ...] = (), room_id: str = "room:main") -> Any:
        """Send a message; return the parsed answer."""
        return json.loads(await self.ask("POST", "/api/messages", message(content, to, room_id)))


def message(content: str, to: tuple[str, ...] = (), room_id: str = "room:main") -> bytes:
    """The body of a message with a new command id."""
    command = uuid.uuid4().hex
    body = {"clientCommandId": command, "content": content, "to": to, "roomId": room_id}
    return json.dumps(body).encode()


@dataclass
class Seen:
    """One event of a stream: its type, when its bytes came, and the bytes."""

    type: str
    at: float
    data: bytes = field(repr=False)


class Stream:
    """Follows the events; made by `following`."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._rest = b""
        self._seen: list[Seen] = []
        self.total = 0
        """Bytes read."""

    async def until(self, kind: str) -> Seen:
        """Read up to the next event of a type. Raises: TimeoutError, ConnectionError."""
        async with asyncio.timeout(STEP_S):
            while True:
                while self._seen:
                    event = self._seen.pop(0)
                    if event.type == kind:
                        return event
                await self._read()

    async def until_seq(self, seq: int) -> None:
        """Read up to the event with this seq."""
        mark = b"id: %d\n" % seq
        async with asyncio.timeout(STEP_S):
            while not any(mark in event.data for event in self._seen):
                self._seen.clear()
                await self._read()

    async def drain_until(self, mark: bytes) -> None:
        """Read and throw away, as cheaply as can be, until a piece with these bytes came."""
        async with asyncio.timeout(STEP_S):
            while data := await self._reader.read(CHUNK):
                if mark in data:
                    return
        raise ConnectionError("the stream ended")

    async def _read(self) -> None:
        data = await self._reader.read(CHUNK)
        if not data:
            raise ConnectionError("the stream ended")
        at = time.perf_counter()
        self.total += len(data)
        *frames, self._rest = (self._rest + data).split(b"\n\n")
        for frame in frames:
            if kind := TYPE.search(frame):
                self._seen.append(Seen(kind[1].decode(), at, frame))


@asynccontextmanager
async def following(address: Address, query: str = "") -> AsyncIterator[Stream]:
    """Follow the server's events from now on, or as the query says."""
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port, limit=CHUNK)
    try:
        writer.write(address.head("GET", f"/api/events{query}"))
        async with asyncio.timeout(STEP_S):
            await reader.readuntil(b"\r\n\r\n")
        yield Stream(reader)
    finally:
        writer.close()


async def count_frames(address: Address, query: str, mark: bytes, goal: int) -> int:
    """Read a stream until `mark` was there `goal` times; return the bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port, limit=CHUNK)
    total = found = 0
    tail = b""
    try:
        writer.write(address.head("GET", f"/api/events{query}"))
        async with asyncio.timeout(STEP_S):
            while found < goal:
                data = await reader.read(CHUNK)
                if not data:
                    raise ConnectionError(f"the stream ended after {found} of {goal}")
                total += len(data)
                data = tail + data
                found += data.count(mark)
                tail = data[-len(mark) + 1 :] if len(mark) > 1 else b""
    finally:
        writer.close()
    return total
