"""Replies as small ASGI applications: one piece of JSON, or a stream of pieces.

A stream writes its next piece only when the socket has taken the one before, and ends at once
when the client leaves or the server stops, even in the middle of a write that does not move.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.types import Receive, Scope, Send

from groupx_server.logs import get_logger
from groupx_shared.errors import LedgerError
from groupx_shared.wire.base import WireModel

Header = tuple[bytes, bytes]

LAST_WORD_S: Final = 0.1
"""For the end mark of a stream when the server stops; a client that does not read goes without."""

_JSON: Final[Header] = (b"content-type", b"application/json")
_log = get_logger(__name__)


class Reply(Protocol):
    """Anything that can answer a request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


@dataclass(frozen=True, slots=True)
class JsonReply:
    """A whole JSON document."""

    body: bytes
    status: int = 200
    headers: tuple[Header, ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = str(len(self.body)).encode()
        headers = [_JSON, (b"content-length", length), *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def json_reply(model: WireModel, status: int = 200) -> JsonReply:
    """Encode a wire model."""
    return JsonReply(model.to_wire(), status)


@dataclass(frozen=True, slots=True)
class StreamReply:
    """A body that comes in pieces."""

    pieces: AsyncIterator[bytes]
    streams_end: asyncio.Event
    content_type: str
    ends_whole: bool
    """At a stop of the server: True ends the body properly (an event stream is whole at any
    point), False breaks the connection, so that a cut document is not taken for a whole one."""
    headers: tuple[Header, ...] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", self.content_type.encode()), *self.headers]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(self._write(send), name="stream-write")
            leaving = group.create_task(_disconnected(receive), name="stream-disconnect")
            stopping = group.create_task(self.streams_end.wait(), name="stream-stop")
            tasks = (writing, leaving, stopping)
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        if writing.cancelled() and not stopping.cancelled() and self.ends_whole:
            await _last_word(send)

    async def _write(self, send: Send) -> None:
        try:
            async for piece in self.pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except LedgerError as error:
            # The head is sent: all that is left is to break off, so that the client comes again.
            _log.warning("stream.broken_off", error=error.message)
            return
        await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _last_word(send: Send) -> None:
    try:
        async with asyncio.timeout(LAST_WORD_S):
            await send({"type": "http.response.body", "body": b""})
    except TimeoutError:
        _log.info("stream.left_unread")
