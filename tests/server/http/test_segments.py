"""Head and body leave together, and nothing else is held back."""

from __future__ import annotations

import asyncio

from groupx_server.http.segments import JoiningTransport, joining

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Wire(asyncio.Transport):
    """Records what is written and done."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.done.append(bytes(data))

    def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.done


def made() -> tuple[Wire, JoiningTransport]:
    wire = Wire()
    return wire, JoiningTransport(wire, asyncio.get_running_loop())


async def test_a_head_leaves_with_the_body_that_follows() -> None:
    wire, transport = made()
    transport.write(HEAD)
    transport.write(b"{}")
    assert wire.done == [HEAD + b"{}"]
    await asyncio.sleep(0)
    assert wire.done == [HEAD + b"{}"]


async def test_a_head_without_a_body_leaves_with_the_turn_of_the_loop() -> None:
    wire, transport = made()
    transport.write(HEAD)
    assert wire.done == []
    await asyncio.sleep(0)
    assert wire.done == [HEAD]
    transport.write(b"later")
    assert wire.done == [HEAD, b"later"]


async def test_pieces_of_a_stream_pass_at_once() -> None:
    wire, transport = made()
    transport.write(b"a")
    transport.write(b"b")
    assert wire.done == [b"a", b"b"]


async def test_two_replies_stay_two_and_in_order() -> None:
    wire, transport = made()
    for body in (b"1", b"2"):
        transport.write(HEAD)
        transport.write(body)
    assert wire.done == [HEAD + b"1", HEAD + b"2"]


async def test_a_close_sends_what_is_held_and_an_abort_drops_it() -> None:
    wire, transport = made()
    transport.write(HEAD)
    transport.close()
    assert wire.done == [HEAD, "close"]
    assert transport.is_closing()
    wire, transport = made()
    transport.write(HEAD)
    transport.abort()
    await asyncio.sleep(0)
    assert wire.done == ["abort"]


async def test_a_protocol_gets_the_joining_transport() -> None:
    class Keeping(asyncio.Protocol):
        transport: asyncio.BaseTransport | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport

    protocol = joining(Keeping)()
    protocol.connection_made(Wire())
    assert isinstance(getattr(protocol, "transport", None), JoiningTransport)
