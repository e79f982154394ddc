"""Hours in minutes: everything at once, as fast as it goes, and whether memory follows.

Turns with thoughts, tools and long answers, messages, searches, pages and windows that come and go
on one server. The figure is the slope of a line through its memory (Linux's VmRSS), the first half
left out, because caches fill until they are full. `--soak 120` makes it two hours.
"""

from __future__ import annotations

import asyncio
import statistics
import time

from bench.rows import Figure, Put, Row, Size, most
from bench.sampling import rss_mb
from bench.site import Site, bench_config, fresh_site, talking
from bench.wire import Connection

LOOK_S = 1.0
SLOPE_MB = 10.0
"""An hour at this rate is more than a day of people's work."""
SCRIPT = "[[think hm]] [[tool ls]] [[burst 20]]"

ROWS = (
    Row(
        "soak-slope", "server, growth an hour, as fast as it goes", "MB/h", most(SLOPE_MB), most(2)
    ),
)


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    with fresh_site(bench_config("bot", "other", settle=False)) as site:
        looks, turns = await _work(size, site)
    half = [look for look in looks if look[0] >= size.soak_s / 2] or looks
    slope, _ = statistics.linear_regression(*zip(*half, strict=True))
    note = (
        f"{size.soak_s / 60:.0f} min, {turns:,} turns; "
        f"{half[0][1]:.1f} MB after the first half, {half[-1][1]:.1f} at the end"
    )
    put("soak-slope", Figure(slope * 3600, None, note))


async def _work(size: Size, site: Site) -> tuple[list[tuple[float, float]], int]:
    """Memory over time, and how many turns were done."""
    looks: list[tuple[float, float]] = []
    counts = [0, 0]
    begun = time.monotonic()
    until = begun + size.soak_s
    async with asyncio.TaskGroup() as tasks:
        for number, agent in enumerate(("bot", "other")):
            tasks.create_task(_turns(site, agent, until, counts, number))
        tasks.create_task(_ask(site, until))
        tasks.create_task(_come_and_go(site, until))
        while (now := time.monotonic()) < until or len(looks) < 2:
            looks.append((now - begun, rss_mb(site.pid)))
            await asyncio.sleep(min(LOOK_S, size.soak_s / 4))
    return looks, sum(counts)


async def _turns(site: Site, agent: str, until: float, counts: list[int], number: int) -> None:
    async with Connection(site.address) as connection:
        while time.monotonic() < until:
            sent = await connection.send(SCRIPT, (agent,))
            (turn,) = sent["turns"]
            path = f"/api/turns/{turn['turnId']}"
            while "terminalAt" not in await connection.json(path):  # noqa: ASYNC110 - it asks
                await asyncio.sleep(0.005)
            counts[number] += 1


async def _ask(site: Site, until: float) -> None:
    """What a window asks when it is opened, and a search."""
    async with Connection(site.address) as connection:
        while time.monotonic() < until:
            await connection.send("some words about the reader " * 8)
            for path in (
                "/api/bootstrap",
                "/api/context?roomId=room%3Amain",
                "/api/search?q=words",
            ):
                await connection.get(path)
            await asyncio.sleep(0.02)


async def _come_and_go(site: Site, until: float) -> None:
    while time.monotonic() < until:
        async with talking(site) as (stream, _):
            await stream.until("turn.completed")
