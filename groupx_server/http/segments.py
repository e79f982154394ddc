"""One write for a reply: the head waits for the body that follows in the same turn of the loop.

uvicorn writes head and body apart, and with Nagle's algorithm off each write is a packet: the
client wakes twice, and on a busy machine the second wake comes milliseconds later. Here a head is
held back until the next write or the end of the loop's turn, whichever is first; everything else
passes at once, so the back-pressure of streams stays as it is.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

HEAD: Final = b"HTTP/1.1 "


class JoiningTransport:
    """Stands before a connection's transport; all but writing and closing goes through."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(HEAD):
            self._head = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._head = b""
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


def joining(protocol: type[asyncio.Protocol]) -> type[asyncio.Protocol]:
    """The same protocol over a `JoiningTransport`."""

    class JoiningProtocol(protocol):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: asyncio.Transport) -> None:
            loop = asyncio.get_running_loop()
            super().connection_made(JoiningTransport(transport, loop))

    return JoiningProtocol
