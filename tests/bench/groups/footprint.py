"""Memory of the server: idle, after a day's work, with a large ledger; and its slope over a soak.

Linux's VmRSS. The window's memory is in `groups.window`.
"""

from __future__ import annotations

import asyncio
import time

from bench.rows import Figure, Put, Row, Size, most
from bench.sampling import p50, rss_mb
from bench.site import Site, bench_config, filled_folder, fresh_site, running, talking
from bench.wire import Connection

ROWS = (
    Row("rss-idle", "server, idle", "MB", most(70, "MB"), most(60, "MB")),
    Row("rss-10000", "server, after 10,000 events", "MB", most(90, "MB"), most(75, "MB")),
    Row("rss-large", "server, largest ledger, a room shown", "MB", most(100, "MB"), most(80, "MB")),
    Row("rss-slope", "server, growth in further 10,000 events", "MB", most(5, "MB"), most(1, "MB")),
)  # fmt: skip


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    idle = []
    for _ in range(min(size.rounds, 3)):
        with fresh_site() as site:
            await _settled(size)
            idle.append(rss_mb(site.pid))
    put("rss-idle", Figure(p50(idle)))
    with fresh_site(bench_config(settle=False)) as site:
        after = [await _worked(size, site) for _ in range(3)]
    put("rss-10000", Figure(after[0]))
    put("rss-slope", Figure(after[2] - after[1], None, "between the 20,000th and the 30,000th"))
    with filled_folder(size, 2) as folder, running(folder, bench_config()) as site:
        async with talking(site) as (_, connection):
            await connection.get("/api/bootstrap")
            await connection.get("/api/rooms/room%3Amain/events?limit=100&before=300")
            await _settled(size)
            put("rss-large", Figure(rss_mb(site.pid)))


async def _settled(size: Size) -> None:
    if not size.is_quick:
        await asyncio.sleep(2)


async def _worked(size: Size, site: Site) -> float:
    """Memory after so many more events, of turns and of messages, with a reader."""
    wanted = size.of(10_000, 20)
    async with talking(site) as (stream, connection):
        newest = (await connection.json("/api/bootstrap?limit=1"))["throughSeq"]
        deadline = time.monotonic() + 60
        for _ in range(wanted // 60):
            await site.turn(stream, connection, "[[think hm]] [[tool ls]] [[burst 20]]")
        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(_send(site, newest + wanted, deadline))
    await _settled(size)
    return rss_mb(site.pid)


async def _send(site: Site, through: int, deadline: float) -> None:
    async with Connection(site.address) as connection:
        while time.monotonic() < deadline:
            if (await connection.send("x" * 300))["seq"] >= through:
                return
