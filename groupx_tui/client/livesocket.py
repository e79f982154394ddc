"""One long streamed GET on a plain asyncio socket, for the event stream.

A general HTTP library wakes up once for each chunk and runs a stack of layers for it; at hundreds
of small events a second that costs several times what the events themselves cost. Here one read
takes all that the socket holds, so events that are there together stay together. The invariant:
each wait is bounded, and the socket is closed whichever way the stream ends.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from groupx_shared.runtime import RuntimeFile
from groupx_tui.client.chunked import ChunkDecoder, ResponseHead, parse_head
from groupx_tui.client.refusals import not_ours, refusal_of, unreachable

CONNECT_TIMEOUT_S: Final = 2.0
CLOSE_TIMEOUT_S: Final = 1.0
READ_BYTES: Final = 64 * 1024
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_REFUSAL_BYTES: Final = 256 * 1024

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def open_stream(
    server: RuntimeFile, target: str, headers: Mapping[str, str], silence_s: float
) -> AsyncIterator[AsyncGenerator[bytes, None]]:
    """Send `GET target` and give the body's bytes as they come; `silence_s` bounds each wait.

    Raises: RefusedError, ServerUnreachableError (also when the body breaks off), GroupXError.
    """
    reader, writer = await _connect(server.url)
    try:
        writer.write(_request(server, target, headers))
        head = await _read_head(reader, server.url, silence_s)
        body = _body(reader, head, server.url, silence_s)
        if head.status != 200:
            raise refusal_of(head.status, await _first_bytes(body), server.url)
        yield body
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await writer.wait_closed()


async def _connect(url: str) -> Streams:
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            return await asyncio.open_connection(
                parts.hostname, parts.port or 80, limit=MAX_HEAD_BYTES
            )
    except TimeoutError as error:
        raise unreachable(url, "no connection in time") from error
    except OSError as error:
        raise unreachable(url, "nothing listens there") from error


def _request(server: RuntimeFile, target: str, headers: Mapping[str, str]) -> bytes:
    sent = {
        "host": urlsplit(server.url).netloc,
        "authorization": f"Bearer {server.token}",
        "connection": "close",
        **headers,
    }
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    if any("\r" in line or "\n" in line for line in lines):
        raise not_ours(server.url, "the runtime file holds a token of two lines")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


async def _read_head(reader: asyncio.StreamReader, url: str, silence_s: float) -> ResponseHead:
    try:
        async with asyncio.timeout(silence_s):
            return parse_head(await reader.readuntil(b"\r\n\r\n"))
    except TimeoutError as error:
        raise unreachable(url, "no answer in time") from error
    except (asyncio.IncompleteReadError, OSError) as error:
        raise unreachable(url, "the connection broke") from error
    except (asyncio.LimitOverrunError, ValueError) as error:
        raise not_ours(url, "no HTTP response") from error


async def _body(
    reader: asyncio.StreamReader, head: ResponseHead, url: str, silence_s: float
) -> AsyncGenerator[bytes, None]:
    decoder = ChunkDecoder() if head.is_chunked else None
    while data := await _read(reader, url, silence_s):
        try:
            payload = data if decoder is None else decoder.feed(data)
        except ValueError as error:
            raise not_ours(url, str(error)) from error
        if payload:
            yield payload
        if decoder is not None and decoder.has_ended:
            return
    if decoder is not None:
        raise unreachable(url, "the connection broke")


async def _read(reader: asyncio.StreamReader, url: str, silence_s: float) -> bytes:
    try:
        async with asyncio.timeout(silence_s):
            return await reader.read(READ_BYTES)
    except TimeoutError as error:
        raise unreachable(url, "no answer in time") from error
    except OSError as error:
        raise unreachable(url, "the connection broke") from error


async def _first_bytes(body: AsyncGenerator[bytes, None]) -> bytes:
    content = b""
    async with contextlib.aclosing(body):
        async for data in body:
            content += data
            if len(content) > MAX_REFUSAL_BYTES:
                break
    return content[:MAX_REFUSAL_BYTES]
