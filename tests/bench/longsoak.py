"""Hours of steady work, and what the server holds meanwhile: `make soak-memory`.

Turns with tools, reasoning and streamed text at a steady rate, readers that come and go, a search
and a page now and then. Prints a line for each interval and, at the end, the growth per hour by
least squares over the second half: what a server takes while it fills its caches is not a leak.
Exit code 1 when it grows by more than `MOST_MB_PER_HOUR`. Counterpart: `groups.footprint`, which
measures the same for minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.sampling import rss_mb
from bench.site import Site, bench_config, fresh_site, talking
from bench.wire import Connection, Stream, following

MOST_MB_PER_HOUR = 5.0
SCRIPT = "[[think hm]] [[tool ls]] [[burst 20]] of turn {number}, which says {word}"
WORDS = ("reader", "writer", "ledger", "cursor", "蓝色海豚", "🙂")
LOOK_EVERY = 20  # turns
ANEW_EVERY = 50
KEPT_BACK = 1000  # seqs before the newest at which a new reader begins


@dataclass(frozen=True, slots=True)
class Sample:
    """The server after `at_s` seconds."""

    at_s: float
    events: int
    rss_mb: float
    files: int
    wal_mb: float


def slope_per_hour(samples: Sequence[Sample]) -> float:
    """Megabytes an hour over the second half."""
    half = samples[len(samples) // 2 :]
    line = statistics.linear_regression([s.at_s / 3600 for s in half], [s.rss_mb for s in half])
    return line.slope


async def soak(site: Site, minutes: float, rate: float, interval_s: float) -> list[Sample]:
    """Work for so long; one sample at each interval."""
    samples: list[Sample] = []
    begun, number = time.monotonic(), 0
    async with talking(site) as (stream, connection):
        while (now := time.monotonic() - begun) < minutes * 60:
            if now >= len(samples) * interval_s:
                samples.append(await _sample(site, connection, now))
                _tell(samples[-1])
            await _step(site, stream, connection, number)
            number += 1
            await asyncio.sleep(max(0.0, begun + number / rate - time.monotonic()))
        samples.append(await _sample(site, connection, time.monotonic() - begun))
    return samples


async def _step(site: Site, stream: Stream, connection: Connection, number: int) -> None:
    word = WORDS[number % len(WORDS)]
    await site.turn(stream, connection, SCRIPT.format(number=number, word=word))
    if number % LOOK_EVERY == 0:
        await connection.get("/api/bootstrap")
        await connection.get("/api/search?q=ledger&limit=20")
        await connection.get("/api/health")
    if number % ANEW_EVERY == 0:
        newest = (await connection.json("/api/bootstrap?limit=1"))["throughSeq"]
        async with following(site.address, f"?afterSeq={max(0, newest - KEPT_BACK)}") as late:
            await late.until_seq(newest)


async def _sample(site: Site, connection: Connection, at_s: float) -> Sample:
    newest = (await connection.json("/api/bootstrap?limit=1"))["throughSeq"]
    wal = site.server.folder / ".groupx" / "groupx.db-wal"
    return Sample(
        at_s=at_s,
        events=newest,
        rss_mb=rss_mb(site.pid),
        files=_open_files(site.pid),
        wal_mb=_megabytes(wal),
    )


def _open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6 if path.exists() else 0.0


def _tell(sample: Sample) -> None:
    sys.stdout.write(
        f"{sample.at_s / 60:6.1f} min  {sample.events:>9,} events  {sample.rss_mb:6.1f} MB"
        f"  {sample.files:3} files  journal {sample.wal_mb:5.1f} MB\n"
    )
    sys.stdout.flush()


def main() -> int:
    """Soak, and say how it grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--rate", type=float, default=3.0, help="turns a second")
    parser.add_argument("--interval", type=float, default=120.0, help="seconds between samples")
    given = parser.parse_args()
    with fresh_site(bench_config(settle=False)) as site:
        samples = asyncio.run(soak(site, given.minutes, given.rate, given.interval))
    _tell(samples[-1])
    growth = slope_per_hour(samples)
    sys.stdout.write(f"growth in the second half: {growth:+.2f} MB an hour\n")
    return int(growth > MOST_MB_PER_HOUR)


if __name__ == "__main__":
    sys.exit(main())
