"""HTTP without a write, event streams: goals 4, 6 and 7. The floor is hand-written asyncio.

Both servers are programs of their own (`programs/http_servers.py`); ours is the application as
shipped over a ledger in memory, so that only HTTP and fan-out are measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Figure, Put, Row, Size, most, times, times_at_least
from bench.sampling import in_turns_async, p50, p95
from bench.wire import STEP_S, Address, Connection, message

PROGRAM = Path(__file__).parents[1] / "programs" / "http_servers.py"
TOKEN = "bench"
REPLAY = 100_000
MARK = b"\ndata: {"
AT = re.compile(rb'"at":(\d+)')
FLOOR = "hand-written asyncio"
RATE = 200

ROWS = (
    Row("post", "POST without a write, p50", "µs", times(3), times(2), FLOOR),
    Row(
        "publish", "publish → SSE client, 200 a second, 10 clients, p95", "ms",
        times(2.5) & most(5, "ms"), times(1.5), FLOOR,
    ),
    Row("fan-out-50", "deliveries a second to 50 clients", "/s", None, None, FLOOR),
    Row(
        "replay-1", "SSE replay to 1 client, events a second", "/s",
        times_at_least(0.4), times_at_least(0.8), FLOOR,
    ),
    Row(
        "replay-10", "SSE replay to 10 clients, events a second", "/s",
        times_at_least(0.4), times_at_least(0.8), FLOOR,
    ),
)  # fmt: skip


@dataclass(slots=True)
class Server:
    """One server process under test."""

    process: asyncio.subprocess.Process
    address: Address
    published: int

    async def order(self, command: str) -> None:
        """Have something published; returns at once."""
        assert self.process.stdin is not None
        self.process.stdin.write(command.encode() + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        async with asyncio.timeout(STEP_S):
            return (await self.process.stdout.readline()).decode().strip()


@asynccontextmanager
async def serving(kind: str, replay: int) -> AsyncIterator[Server]:
    """Start one of the two servers."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), kind, str(replay), stdin=pipe, stdout=pipe,
        env={**os.environ, "PYTHONPATH": str(PROGRAM.parents[2])},
    )  # fmt: skip
    running = Server(process, Address(0, TOKEN), replay)
    try:
        running.address = Address(int(await running.hear()), TOKEN)
        yield running
    finally:
        assert process.stdin is not None
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 10)
        if process.returncode is None:
            process.kill()


class Follower:
    """One client of the event stream that only counts, and keeps delays when asked."""

    def __init__(self, target: Server, after: int, *, keep_delays: bool = False) -> None:
        self._target, self._after, self._keep_delays = target, after, keep_delays
        self.delays_ms: list[float] = []
        self.connected = asyncio.Event()

    async def run(self, goal: int) -> None:
        """Follow until `goal` events came."""
        address = self._target.address
        reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.write(address.head("GET", f"/api/events?afterSeq={self._after}"))
        await reader.readuntil(b"\r\n\r\n")
        self.connected.set()
        tail, count = b"", 0
        while count < goal:
            data = tail + await reader.read(262_144)
            if len(data) == len(tail):
                raise ConnectionError(f"the stream ended after {count} of {goal}")
            count += data.count(MARK)
            if self._keep_delays:
                now = time.monotonic_ns()
                self.delays_ms += [(now - int(at)) / 1e6 for at in AT.findall(data)]
            tail = b"" if self._keep_delays else data[-len(MARK) + 1 :]
        writer.close()


async def follow(target: Server, followers: list[Follower], goal: int, command: str) -> float:
    """Connect all, publish, wait for all; return the seconds from the command on."""
    async with asyncio.timeout(STEP_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(follower.run(goal)) for follower in followers]
        for follower in followers:
            await follower.connected.wait()
        await asyncio.sleep(0.05)
        begun = time.perf_counter()
        await target.order(command)
        await asyncio.wait(tasks)
        took = time.perf_counter() - begun
    await target.hear()
    return took


async def fan_out(target: Server, clients: int, events: int) -> float:
    """Deliveries a second, published in bursts."""
    followers = [Follower(target, target.published) for _ in range(clients)]
    seconds = await follow(target, followers, events, f"publish {events}")
    target.published += events
    return clients * events / seconds


async def replay(target: Server, clients: int, events: int) -> float:
    """Events a second to clients that start behind."""
    begun = time.perf_counter()
    async with asyncio.timeout(STEP_S), asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(Follower(target, target.published - events).run(events))
    return clients * events / (time.perf_counter() - begun)


async def latency(target: Server, events: int) -> float:
    """Publish to client at a steady rate, p95 in ms."""
    followers = [Follower(target, target.published, keep_delays=True) for _ in range(10)]
    await follow(target, followers, events, f"pace {events} {RATE}")
    target.published += events
    return p95(delay for follower in followers for delay in follower.delays_ms)


async def post(target: Server, requests: int) -> float:
    """POST over a kept connection, p50 in µs."""
    times_us: list[float] = []
    async with Connection(target.address) as connection:
        body = message("x" * 100, ("guide",))
        for _ in range(requests):
            begun = time.perf_counter()
            await connection.ask("POST", "/api/messages", body)
            times_us.append((time.perf_counter() - begun) * 1e6)
    return p50(times_us)


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    kept = size.of(REPLAY, 200)
    events = size.of(4_000, 50) // 50 * 50
    works: dict[str, Callable[[Server], Awaitable[float]]] = {
        "post": lambda server: post(server, size.of(2_000, 5)),
        "publish": lambda server: latency(server, size.of(500, 10)),
        "fan-out-50": lambda server: fan_out(server, 50, events),
        "replay-1": lambda server: replay(server, 1, kept),
        "replay-10": lambda server: replay(server, 10, kept),
    }
    async with serving("floor", kept) as floor, serving("ours", kept) as ours:
        for key, work in works.items():
            sides = {"floor": _bound(work, floor), "ours": _bound(work, ours)}
            found = await in_turns_async(size.rounds, sides)
            put(key, Figure(p50(found["ours"]), p50(found["floor"])))


def _bound(
    work: Callable[[Server], Awaitable[float]], server: Server
) -> Callable[[], Awaitable[float]]:
    return lambda: work(server)
