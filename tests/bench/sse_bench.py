"""HTTP and SSE against a hand-written floor, both measured in the same run; prints JSON.

    python tests/bench/sse_bench.py [--rounds N] [--quick]

* `fan_out`: events delivered a second to 1, 10 and 50 clients, published in bursts;
* `replay`: events a second to 1 and 10 clients that start 100,000 events behind;
* `latency`: publish to client at 200 events a second with 10 clients, p50 and p95 in ms;
* `post`: POST of a small message without a write, over a kept connection, p50 and p95 in µs.

Rounds alternate between the two servers; each figure is the median. `ratio` compares ours with
the floor (rates: higher is better; times: lower is better).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from groupx_server.http.serve import loop_factory

HERE = Path(__file__).parent
TOKEN = "bench"
REPLAY = 100_000
MARK = b"\ndata: {"
AT = re.compile(rb'"at":(\d+)')
KINDS = ("floor", "ours")
LIMIT_S = 120.0

Figures = dict[str, float]


@dataclass(slots=True)
class Server:
    """One server process under test."""

    process: asyncio.subprocess.Process
    port: int = 0
    published: int = REPLAY

    async def say(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(command.encode() + b"\n")
        await self.process.stdin.drain()

    async def hear(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()

    def head(self, method: str, path: str, length: int = 0) -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {TOKEN}",
            "Content-Type: application/json",
            f"Content-Length: {length}",
        ]
        return "\r\n".join([*lines, "", ""]).encode()


@asynccontextmanager
async def server(kind: str) -> AsyncIterator[Server]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "http_servers.py"), kind, stdin=pipe, stdout=pipe,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )  # fmt: skip
    running = Server(process)
    try:
        running.port = int(await running.hear())
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
        self.target, self.after, self.keep_delays = target, after, keep_delays
        self.count = 0
        self.delays_ms: list[float] = []
        self.connected = asyncio.Event()

    async def run(self, goal: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.target.port)
        writer.write(self.target.head("GET", f"/api/events?afterSeq={self.after}"))
        await reader.readuntil(b"\r\n\r\n")
        self.connected.set()
        tail = b""
        while self.count < goal:
            data = tail + await reader.read(262_144)
            self.count += data.count(MARK)
            if self.keep_delays:
                now = time.monotonic_ns()
                self.delays_ms += [(now - int(at)) / 1e6 for at in AT.findall(data)]
            tail = data[-len(MARK) + 1 :] if not self.keep_delays else b""
        writer.close()


async def follow(target: Server, followers: list[Follower], goal: int, command: str) -> float:
    """Connect all, publish, wait for all; return the seconds from the command on."""
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(follower.run(goal)) for follower in followers]
        for follower in followers:
            await follower.connected.wait()
        await asyncio.sleep(0.05)
        started = time.perf_counter()
        if command:
            await target.say(command)
        await asyncio.wait(tasks)
        ended = time.perf_counter()
    if command:
        await target.hear()
    return ended - started


async def fan_out(target: Server, clients: int, events: int) -> Figures:
    followers = [Follower(target, target.published) for _ in range(clients)]
    seconds = await follow(target, followers, events, f"publish {events}")
    target.published += events
    return {"deliveries_per_s": clients * events / seconds}


async def replay(target: Server, clients: int, events: int) -> Figures:
    started = time.perf_counter()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(Follower(target, target.published - events).run(events))
    return {"events_per_s": clients * events / (time.perf_counter() - started)}


async def latency(target: Server, clients: int, events: int) -> Figures:
    followers = [Follower(target, target.published, keep_delays=True) for _ in range(clients)]
    await follow(target, followers, events, f"pace {events} 200")
    target.published += events
    delays = sorted(delay for follower in followers for delay in follower.delays_ms)
    return {"p50_ms": statistics.median(delays), "p95_ms": delays[int(len(delays) * 0.95)]}


async def post(target: Server, requests: int) -> Figures:
    body = json.dumps({"clientCommandId": "c" * 32, "content": "x" * 100, "to": ["guide"]})
    message = target.head("POST", "/api/messages", len(body)) + body.encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    times: list[float] = []
    for _ in range(requests):
        started = time.perf_counter()
        writer.write(message)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 202"), head
        length = int(re.search(rb"content-length: (\d+)", head.lower())[1])  # type: ignore[index]
        await reader.readexactly(length)
        times.append((time.perf_counter() - started) * 1e6)
    writer.close()
    times.sort()
    return {"p50_us": statistics.median(times), "p95_us": times[int(len(times) * 0.95)]}


async def measure(target: Server, scale: int) -> dict[str, Figures]:
    found = {
        f"fan_out_{clients}": await fan_out(target, clients, 4_000 * scale // max(1, clients // 5))
        for clients in (1, 10, 50)
    }
    found |= {f"replay_{clients}": await replay(target, clients, 10_000 * scale)
              for clients in (1, 10)}  # fmt: skip
    found["latency_10"] = await latency(target, 10, 80 * scale)
    found["post"] = await post(target, 400 * scale)
    return found


async def run(rounds: int, scale: int) -> dict[str, object]:
    samples: dict[str, list[dict[str, Figures]]] = {kind: [] for kind in KINDS}
    async with server("floor") as floor, server("ours") as ours:
        targets = {"floor": floor, "ours": ours}
        for number in range(rounds):
            for kind in KINDS if number % 2 == 0 else reversed(KINDS):
                samples[kind].append(await measure(targets[kind], scale))
    return {
        "load": os.getloadavg()[0],
        "rounds": rounds,
        "results": {name: _compare(name, samples) for name in samples["floor"][0]},
    }


def _compare(name: str, samples: dict[str, list[dict[str, Figures]]]) -> dict[str, Figures]:
    middle = {
        kind: {
            figure: statistics.median(sample[name][figure] for sample in samples[kind])
            for figure in samples[kind][0][name]
        }
        for kind in KINDS
    }
    ratio = {figure: middle["ours"][figure] / middle["floor"][figure] for figure in middle["ours"]}
    return {**middle, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        report = runner.run(run(options.rounds, 1 if options.quick else 10))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
