"""Flat in the message: what a delta costs in a long answer, and what huge things cost in memory.

The agent streams parts of 50 characters; a part's cost is the server's CPU over the whole turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from bench.groups.starting import PROGRAMS
from bench.rows import Figure, Put, Row, Size, most, times
from bench.sampling import cpu_s, forget_peak, p50, peak_mb, rss_mb, until_idle
from bench.site import Site, bench_config, fresh_site, talking, warm
from bench.wire import Connection, Stream

SHORT = "answer of 10 KB"
PART = 50
FLAT = times(1.3)

ROWS = (
    Row("delta-server", "server CPU a delta in an answer of 1 MB", "µs", FLAT, None, SHORT),
    Row("delta-sse", "bytes to a client a delta in an answer of 1 MB", "B", FLAT, None, SHORT),
    Row("delta-window", "window CPU a delta in an answer of 1 MB", "µs", FLAT, None, SHORT),
    Row("answer-5", "peak memory, answer of 5 MB", "times its size", most(10), most(4)),
    Row("tool-50", "peak memory, tool output of 50 MB", "times its size", most(4), most(3)),
    Row("line-16", "peak memory, a line of 16 MB", "times its size", most(6), most(4)),
    Row("left-over", "server memory after these, above before", "MB", most(64), most(20)),
)  # fmt: skip


async def _delta_rows(size: Size, put: Put) -> None:
    with fresh_site(bench_config(settle=False)) as site:
        async with talking(site) as (stream, connection):
            await warm(size, site, stream, connection)
            await _deltas(size, put, site, stream, connection)


async def _huge_rows(size: Size, put: Put) -> None:
    with fresh_site(bench_config(settle=False)) as site:
        async with talking(site) as (stream, connection):
            await warm(size, site, stream, connection)
            await _huge(size, put, site, stream, connection)


async def _deltas(size: Size, put: Put, site: Site, stream: Stream, connection: Connection) -> None:
    long = size.of(1_000_000 // PART, 400)
    short = 10_000 // PART
    repeats = max(1, size.of(100, 1))
    costs: dict[str, list[tuple[float, float]]] = {"long": [], "short": []}
    for _ in range(size.rounds):
        base = await _turn_cost(site, stream, connection, 1, repeats)
        for name, parts, turns in (("short", short, repeats), ("long", long, 1)):
            cpu, read = await _turn_cost(site, stream, connection, parts, turns)
            pair = ((cpu - base[0]) / parts * 1e6, (read - base[1]) / parts)
            costs[name].append(pair)
    for column, key in enumerate(("delta-server", "delta-sse")):
        cost = {name: p50(pair[column] for pair in pairs) for name, pairs in costs.items()}
        put(key, Figure(cost["long"], cost["short"]))


async def _turn_cost(
    site: Site, stream: Stream, connection: Connection, parts: int, turns: int
) -> tuple[float, float]:
    """Server CPU and bytes read of one turn, on average; what came before is indexed by then."""
    await connection.get("/api/search?q=word&limit=1")
    await until_idle(site.pid)
    cpu, read = cpu_s(site.pid), stream.total
    for _ in range(turns):
        await site.turn(stream, connection, f"[[parts {parts} {PART}]]")
    return (cpu_s(site.pid) - cpu) / turns, (stream.total - read) / turns


def _window(size: Size, put: Put) -> None:
    lengths = {"long": size.of(1_000_000, 20_000), "short": 10_000}
    found: dict[str, list[float]] = {name: [] for name in lengths}
    path = filter(None, (str(PROGRAMS.parents[1]), os.environ.get("PYTHONPATH")))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    for _ in range(min(size.rounds, 3)):
        for name, chars in lengths.items():
            argv = [sys.executable, str(PROGRAMS / "window.py"), "length", str(chars)]
            argv.append(str(size.of(500, 20)))
            done = subprocess.run(argv, capture_output=True, check=True, timeout=120, env=env)
            found[name].append(json.loads(done.stdout))
    put("delta-window", Figure(p50(found["long"]), p50(found["short"])))


async def _huge(size: Size, put: Put, site: Site, stream: Stream, connection: Connection) -> None:
    million = size.of(1_000_000, 20_000)
    before = rss_mb(site.pid)
    cases = (
        ("answer-5", 5 * million, f"[[parts {5 * million // 4_000} 4000]]"),
        ("tool-50", 50 * million, f"[[say a]] [[tool-output {50 * million}]]"),
        ("line-16", 16 * million, f"[[big {16 * million}]]"),
    )
    for key, amount, script in cases:
        forget_peak(site.pid)
        start = rss_mb(site.pid)
        # A piece that is larger than a reader's whole buffer comes with the end, not live.
        await connection.send(script, ("bot",))
        await stream.until("turn.completed")
        put(key, Figure((peak_mb(site.pid) - start) / (amount / 1e6), None, f"of {amount:,} bytes"))
    put("left-over", Figure(rss_mb(site.pid) - before))


PARTS = (_delta_rows, _window, _huge_rows)
