"""The process's own input and output as asynchronous byte streams.

Standard output belongs to the protocol alone: its descriptor is taken over and everything else
that prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator
from typing import Final, Self

CHUNK_BYTES: Final = 65_536
FLUSH_TIMEOUT_S: Final = 0.3
"""At the end, for a client that still reads."""


async def read_chunks(fd: int = 0) -> AsyncIterator[bytes]:
    """Yield what arrives on `fd` until its end. A thread reads (so files, pipes and terminals all
    work), one chunk ahead at most."""
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1)

    def pump() -> None:
        while True:
            try:
                chunk = os.read(fd, CHUNK_BYTES)
            except OSError:
                chunk = b""
            try:
                asyncio.run_coroutine_threadsafe(inbox.put(chunk), loop).result()
            except RuntimeError:
                return  # the loop is closed: nobody listens any more
            if not chunk:
                return

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    while chunk := await inbox.get():
        yield chunk


def take_stdout() -> int:
    """Return a descriptor for protocol output and point descriptor 1 at standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


class LineWriter(asyncio.BaseProtocol):
    """Writes lines in the order of `write` calls, waiting while the reader is slow."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._fd: int | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._closed = asyncio.Event()
        self._lost = False

    @classmethod
    async def open(cls, fd: int) -> Self:
        """Write to `fd`: asynchronously to a pipe or socket, directly to a file."""
        mode = os.fstat(fd).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            writer = cls()
            writer._fd = fd
            return writer
        pipe = os.fdopen(fd, "wb", buffering=0)
        transport, writer = await asyncio.get_running_loop().connect_write_pipe(cls, pipe)
        writer._transport = transport
        return writer

    async def write(self, line: bytes) -> None:
        """Write one whole line. Raises: ConnectionError when nobody reads any more."""
        if self._lost:
            raise ConnectionResetError("the client has closed the agent's output")
        if self._transport is None:
            _write_all(self._fd or 1, line)
            return
        self._transport.write(line)
        await self._may_write.wait()

    async def aclose(self) -> None:
        """Flush for at most `FLUSH_TIMEOUT_S` and close."""
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(FLUSH_TIMEOUT_S):
                await self._closed.wait()
        except TimeoutError:
            self._transport.abort()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._may_write.set()
        self._closed.set()


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
