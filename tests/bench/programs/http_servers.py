"""The two servers that `groups.streaming` compares, each in a process of its own.

`floor`: hand-written asyncio, as little as can answer a POST and feed an event stream.
`ours`: the application as shipped, over an in-memory ledger, so that only HTTP and fan-out are
measured. Both print their port and then obey lines on stdin: `publish COUNT`, `pace COUNT RATE`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from groupx_server.http.app import build_app
from groupx_server.http.auth import Credential, Credentials
from groupx_server.http.ports import DurableFrameSource, Source
from groupx_server.http.serve import HttpServer, bind_loopback, loop_factory
from groupx_server.http.state import ServerState
from groupx_server.rooms.broadcast import CHUNK_BYTES, Hub
from groupx_shared.wire.replies import MessageAccepted
from groupx_shared.wire.requests import SendMessage
from groupx_shared.wire.sse import encode_durable
from support.fake_rooms import FakeLedger, FakeRooms

TOKEN = "bench"
PER_TICK = 50
"""Events that one burst adds before the loop turns, like one group commit."""
REPLAY = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
PAD = "x" * 110
"""Makes a frame about 200 bytes long."""


def event_data(seq: int) -> bytes:
    return b'{"seq":%d,"at":%d,"roomId":"room:main","type":"message.created","body":"%b"}' % (
        seq,
        time.monotonic_ns(),
        PAD.encode(),
    )


class FloorServer:
    """Raw asyncio streams; frames are encoded once and joined for each write."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self._changed = asyncio.Event()
        self._is_over = False

    def end(self) -> None:
        self._is_over = True
        self._changed.set()

    def add(self, count: int) -> None:
        first = len(self.frames) + 1
        self.frames += [encode_durable(s, event_data(s)) for s in range(first, first + count)]
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()

    async def on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                length = 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                if line.startswith(b"GET"):
                    after = int(line.split(b"afterSeq=")[1].split()[0])
                    await self._stream(writer, after)
                await reader.readexactly(length)
                body = b'{"seq":1,"roomId":"room:main","messageEventId":"evt_1","turns":[]}'
                head = b"HTTP/1.1 202 Accepted\r\ncontent-length: %d\r\n\r\n" % len(body)
                writer.write(head + body)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter, position: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        per_write = CHUNK_BYTES // 200
        while not self._is_over:
            changed = self._changed
            if pending := self.frames[position : position + per_write]:
                position += len(pending)
                writer.write(b"".join(pending))
                await writer.drain()
            else:
                await changed.wait()


class BenchRooms(FakeRooms):
    """Accepts a message without keeping it."""

    async def send(self, request: SendMessage, source: Source) -> MessageAccepted:
        return MessageAccepted(
            message_event_id="evt_1",
            seq=1,
            room_id=request.room_id,
            correlation_id="corr_1",
            turns=(),
        )


class BenchLedger(FakeLedger):
    """Reads without turning the loop more than once."""

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        await asyncio.sleep(0)
        self.reads += 1
        return self.events[after_seq : min(after_seq + limit, self.last_seq)]

    def add(self, count: int) -> None:
        first = len(self.events) + 1
        self.events += [
            DurableFrameSource(seq, "room:main", event_data(seq))
            for seq in range(first, first + count)
        ]
        self.publish()


async def obey(add: Callable[[int], None]) -> None:
    """Carry out the commands on stdin until it ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command, *numbers = line.split()
        if command == b"publish":
            for _ in range(int(numbers[0]) // PER_TICK):
                add(PER_TICK)
                await asyncio.sleep(0)
        elif command == b"pace":
            for _ in range(int(numbers[0])):
                add(1)
                await asyncio.sleep(1 / int(numbers[1]))
        print("done", flush=True)


async def run_floor() -> None:
    floor = FloorServer()
    floor.add(REPLAY)
    sock = bind_loopback()
    async with await asyncio.start_server(floor.on_client, sock=sock):
        print(sock.getsockname()[1], flush=True)
        await obey(floor.add)
        floor.end()
        await asyncio.sleep(0.1)


async def run_ours() -> None:
    rooms = BenchRooms(BenchLedger())
    ledger = rooms.ledger
    assert isinstance(ledger, BenchLedger)
    ledger.add(REPLAY)
    hub = Hub(rooms, ledger)
    sock = bind_loopback()
    state = ServerState(sock.getsockname()[1], "a" * 64, "b" * 32, readiness="ok")
    stop = asyncio.Event()
    credentials = Credentials({TOKEN: Credential()})
    app = build_app(rooms, credentials, hub, state, request_stop=stop.set)
    server = HttpServer(app, sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        group.create_task(server.run(stop))
        await server.is_ready.wait()
        print(server.port, flush=True)
        await obey(ledger.add)
        state.close()
        hub.close()
        stop.set()


def main() -> None:
    servers: dict[str, Callable[[], Awaitable[None]]] = {"floor": run_floor, "ours": run_ours}
    run = servers[sys.argv[1]]
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_as_coroutine(run))


async def _as_coroutine(run: Callable[[], Awaitable[None]]) -> None:
    await run()


if __name__ == "__main__":
    main()
