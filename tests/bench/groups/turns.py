"""What a turn costs with a scripted agent: the way to the first delta, CPU, many in a lane, many
readers, a reader that was away.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

from bench.rows import Figure, Put, Row, Size, least, most, times
from bench.sampling import awaited_ms, cpu_s, p50, p95
from bench.site import Site, bench_config, fresh_site, talking, warm
from bench.wire import Connection, Stream, count_frames

READERS = 50
NOBODY = "no other reader"
FRAME = b"\ndata: {"

ROWS = (
    Row("turn", "send → first delta, p50", "ms", most(8, "ms"), most(5, "ms")),
    Row("turn-cpu", "server CPU a turn", "ms", most(5, "ms"), most(3, "ms")),
    Row("lane", "200 messages queued in a lane, turns a second", "/s", least(150), least(250)),
    Row("lane-settle", "the same, late updates waited for as shipped", "/s", None, None),
    Row("fan-out-cpu", "20,000 deltas to 50 clients, server CPU", "s", most(3, "s"), most(2, "s")),
    Row("fan-out-time", "the same, length of the turn", "s", times(1.3), times(1.1), NOBODY),
    Row("catch-up", "catch-up of 10,000 events in one connection", "ms", most(500), most(250)),
)  # fmt: skip


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    with fresh_site(bench_config(settle=False)) as site:
        async with talking(site) as (stream, connection):
            await warm(size, site, stream, connection)
            await _single(size, put, site, stream, connection)
            put("lane", Figure(await _lane(size, site, stream, connection)))
            await _fan_out(size, put, site, stream, connection)
            await _catch_up(size, put, site, connection)
    with fresh_site() as site:
        async with talking(site) as (stream, connection):
            await warm(size, site, stream, connection)
            put("lane-settle", Figure(await _lane(size, site, stream, connection, 0.2)))


async def _single(size: Size, put: Put, site: Site, stream: Stream, connection: Connection) -> None:
    count = size.of(200, 3)
    before = cpu_s(site.pid)
    took = [(await site.turn(stream, connection)).first_delta for _ in range(count)]
    put("turn", Figure(p50(took), None, f"p95 {p95(took):.3g} ms"))
    put("turn-cpu", Figure((cpu_s(site.pid) - before) / count * 1000))


async def _lane(
    size: Size, site: Site, stream: Stream, connection: Connection, part: float = 1.0
) -> float:
    """Queue many, then time the working off; the median of some rounds."""
    count = max(3, round(size.of(200, 3) * part))
    rates = []
    for _ in range(size.rounds):
        begun = time.perf_counter()
        for _ in range(count):
            await connection.send("[[say ok]]", ("bot",))
        for _ in range(count):
            await stream.until("turn.completed")
        rates.append(count / (time.perf_counter() - begun))
    return p50(rates)


async def _fan_out(
    size: Size, put: Put, site: Site, stream: Stream, connection: Connection
) -> None:
    """The same long answer alone and with many readers; both from one agent."""
    script = f"[[burst {size.of(20_000, 100)}]]"
    alone, beside, cpu = [], [], []
    for _ in range(min(size.rounds, 3)):
        alone.append((await site.turn(stream, connection, script)).ended / 1000)
        async with AsyncExitStack() as stack:
            others = [(await stack.enter_async_context(talking(site)))[0] for _ in range(READERS)]
            before = cpu_s(site.pid)
            async with asyncio.TaskGroup() as tasks:
                for other in others:
                    tasks.create_task(other.drain_until(b'"type":"turn.completed"'))
                beside.append((await site.turn(stream, connection, script)).ended / 1000)
            cpu.append(cpu_s(site.pid) - before)
    put("fan-out-cpu", Figure(p50(cpu)))
    put("fan-out-time", Figure(p50(beside), p50(alone)))


async def _catch_up(size: Size, put: Put, site: Site, connection: Connection) -> None:
    wanted = size.of(10_000, 20)
    newest = (await connection.json("/api/bootstrap?limit=1"))["throughSeq"]
    async with asyncio.TaskGroup() as tasks:
        for _ in range(8):
            tasks.create_task(_fill(site, max(0, wanted - newest) // 8 + 1))
    newest = (await connection.json("/api/bootstrap?limit=1"))["throughSeq"]
    query = f"?afterSeq={newest - wanted}"
    took = [
        await awaited_ms(count_frames(site.address, query, FRAME, wanted))
        for _ in range(size.rounds)
    ]
    put("catch-up", Figure(p50(took), None, f"of {wanted:,} events"))


async def _fill(site: Site, count: int) -> None:
    async with Connection(site.address) as connection:
        for _ in range(count):
            await connection.send("x" * 200)
