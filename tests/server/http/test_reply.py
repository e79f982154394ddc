"""Streams end when they should: at their end, when the client leaves, when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from groupx_server.http.reply import JsonReply, StreamReply, json_reply
from groupx_shared.errors import LedgerError
from groupx_shared.wire.replies import RestartReply
from support.asgi_bridge import WAIT_S
from support.http_app import settle

SCOPE: dict[str, Any] = {"type": "http"}


class Wire:
    """A client's side: records what is sent; `full` stops the socket from taking more."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.leaves = asyncio.Event()
        self.full = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if self.full.is_set():
            await asyncio.Event().wait()
        self.sent.append(message)

    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.sent[1:]]

    def is_whole(self) -> bool:
        return not self.sent[-1].get("more_body", False)


async def endless() -> AsyncIterator[bytes]:
    yield b"first"
    await asyncio.Event().wait()


def stream(
    pieces: AsyncIterator[bytes], end: asyncio.Event | None = None, *, ends_whole: bool = True
) -> StreamReply:
    return StreamReply(pieces, end or asyncio.Event(), "text/plain", ends_whole=ends_whole)


async def run(reply: StreamReply, wire: Wire) -> None:
    async with asyncio.timeout(WAIT_S):
        await reply(SCOPE, wire.receive, wire.send)


async def until_sent(wire: Wire, count: int) -> None:
    await settle(lambda: len(wire.sent) >= count)


async def test_json_has_its_length_and_leaves_none_out() -> None:
    wire = Wire()
    await json_reply(RestartReply(actor_id="a", accepted=True), 202)(SCOPE, wire.receive, wire.send)
    assert wire.sent[0]["status"] == 202
    assert dict(wire.sent[0]["headers"])[b"content-length"] == b"31"
    assert wire.bodies() == [b'{"actorId":"a","accepted":true}']


async def test_a_reply_keeps_the_headers_it_was_given() -> None:
    wire = Wire()
    await JsonReply(b"{}", 200, ((b"x-one", b"1"),))(SCOPE, wire.receive, wire.send)
    assert (b"x-one", b"1") in wire.sent[0]["headers"]


async def test_a_stream_that_ends_is_whole() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    wire = Wire()
    await run(stream(pieces()), wire)
    assert wire.bodies() == [b"a", b"b", b""]
    assert wire.is_whole()


async def test_a_client_that_leaves_ends_the_stream_at_once() -> None:
    wire, closed = Wire(), list[str]()

    async def pieces() -> AsyncIterator[bytes]:
        try:
            async for piece in endless():
                yield piece
        finally:
            closed.append("closed")

    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(pieces()), wire))
        await until_sent(wire, 2)
        wire.leaves.set()
    assert closed == ["closed"]
    assert not wire.is_whole()


async def test_a_client_that_reads_nothing_and_leaves_frees_the_writer() -> None:
    wire = Wire()
    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(endless()), wire))
        await until_sent(wire, 1)
        wire.full.set()
        wire.leaves.set()


async def test_a_stop_ends_an_event_stream_properly() -> None:
    wire, end = Wire(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(endless(), end), wire))
        await until_sent(wire, 2)
        end.set()
    assert wire.bodies() == [b"first", b""]
    assert wire.is_whole()


async def test_a_stream_that_ends_at_the_moment_of_the_stop_has_one_end() -> None:
    wire, end = Wire(), asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await end.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(pieces(), end), wire))
        await until_sent(wire, 2)
        end.set()
    assert wire.bodies() == [b"first", b""]


async def test_a_stop_leaves_a_cut_document_visibly_cut() -> None:
    wire, end = Wire(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(endless(), end, ends_whole=False), wire))
        await until_sent(wire, 2)
        end.set()
    assert not wire.is_whole()


async def test_a_stop_does_not_wait_for_a_client_that_reads_nothing() -> None:
    wire, end = Wire(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(run(stream(endless(), end), wire))
        await until_sent(wire, 2)
        wire.full.set()
        end.set()
    assert not wire.is_whole()


async def test_trouble_with_the_ledger_breaks_the_stream_off() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a"
        raise LedgerError("the disk is gone")

    wire = Wire()
    await run(stream(pieces()), wire)
    assert wire.bodies() == [b"a"]
    assert not wire.is_whole()
