"""Lines from standard input, read by a thread of its own, so that the loop is never blocked.

Invariants: nothing is read far ahead (`MAX_AHEAD` lines); a line that goes on for ever is cut into
pieces of `MAX_LINE_BYTES`. The thread reads the descriptor itself: a buffered stream would hold a
lock that the end of the program waits for.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Final

MAX_AHEAD: Final = 64
MAX_LINE_BYTES: Final = 1024 * 1024
PIECE_BYTES: Final = 65_536


async def typed_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield lines without their ends, until the input ends."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = threading.Semaphore(MAX_AHEAD)
    is_over = threading.Event()

    def hand_over(line: bytes | None) -> None:
        room.acquire()
        if not is_over.is_set():
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        try:
            for line in _lines(descriptor):
                hand_over(line)
                if is_over.is_set():
                    return
            hand_over(None)
        except RuntimeError:
            return  # the loop is closed: nobody waits for more

    threading.Thread(target=read, name="groupx-input", daemon=True).start()
    try:
        while (line := await lines.get()) is not None:
            room.release()
            yield line.decode("utf-8", "replace").removesuffix("\r")
    finally:
        is_over.set()
        room.release()  # the thread may wait for it


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines as they come; the last one may have no end."""
    begun = b""
    while piece := _read(descriptor):
        *whole, begun = (begun + piece).split(b"\n")
        yield from whole
        if len(begun) >= MAX_LINE_BYTES:
            yield begun
            begun = b""
    if begun:
        yield begun


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, PIECE_BYTES)
    except OSError:
        return b""  # a terminal that went away has ended
