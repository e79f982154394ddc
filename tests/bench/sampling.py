"""Taking times, CPU and memory: of this process, of others, in turns and by quantile."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def p50(values: Iterable[float]) -> float:
    """The middle."""
    return statistics.median(values)


def p95(values: Iterable[float]) -> float:
    """What 95 of 100 stay below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


def in_turns(rounds: int, sides: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Measure each side once a round, in changing order; return every side's figures."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        order = list(sides.items())
        for name, measure in order if number % 2 == 0 else reversed(order):
            found[name].append(measure())
    return found


async def in_turns_async(
    rounds: int, sides: dict[str, Callable[[], Awaitable[float]]]
) -> dict[str, list[float]]:
    """The same for coroutines."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        order = list(sides.items())
        for name, measure in order if number % 2 == 0 else reversed(order):
            found[name].append(await measure())
    return found


def milliseconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


async def awaited_ms(work: Awaitable[object]) -> float:
    """How long an await takes."""
    begun = time.perf_counter()
    await work
    return (time.perf_counter() - begun) * 1000


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used: to the nanosecond where the kernel tells, else to the
    tick."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except (FileNotFoundError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


async def until_idle(pid: int, share: float = 0.05, within_s: float = 10.0) -> None:
    """Wait until a process uses less than this share of a core for a quarter of a second."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        used = cpu_s(pid)
        await asyncio.sleep(0.25)
        if cpu_s(pid) - used < share * 0.25:
            return


def rss_mb(pid: int) -> float:
    """Memory of a process, in 10^6 bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6


def peak_mb(pid: int) -> float:
    """The most memory it has had since `forget_peak`."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def forget_peak(pid: int) -> None:
    """Begin a new peak."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def told(values: Sequence[float], unit: str) -> str:
    """Quantiles as a note."""
    return f"p50 {p50(values):.3g} {unit}, p95 {p95(values):.3g}"
