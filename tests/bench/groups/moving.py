"""Getting a ledger out: goals 19 (export) and 20 (a backup while messages are sent)."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from bench.groups.starting import COMMAND
from bench.rows import Figure, Put, Row, Size, times
from bench.sampling import cpu_s, p50, p95
from bench.site import bench_config, filled_folder, running
from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import AcceptMessage, accept_message
from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.connection import open_reader
from groupx_server.ledger.events import COLUMNS
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.times import utc_now_iso

SELECT = "select over the same rows"
PAUSE_S = 0.005
"""Two hundred messages a second: far more than people and agents write."""
PATIENCE_S = 120.0

ROWS = (
    Row("export", "`GET /api/export`, server CPU a row", "µs", times(3), times(2), SELECT),
    Row("export-cli", "`groupx export`, CPU of command and server a row", "µs", None, None, SELECT),
    Row("backup", "online backup while messages are sent", "s", times(5), None, "copy + fsync"),
    Row("backup-sends", "accept meanwhile, p95", "ms", times(3), None, "without a backup"),
)


def _export_rows(size: Size, put: Put) -> None:
    with filled_folder(size, 1) as folder:
        _export(size, put, folder)


async def _backup_rows(size: Size, put: Put) -> None:
    with filled_folder(size, 1) as folder:
        await _backup(size, put, folder / ".groupx" / "groupx.db")


def _export(size: Size, put: Put, folder: Path) -> None:
    path = folder / ".groupx" / "groupx.db"
    floor, server, whole = [], [], []
    with running(folder, bench_config()) as site:
        for _ in range(size.rounds):
            used, rows = _select(path)
            floor.append(used / rows * 1e6)
            before = cpu_s(site.pid)
            command = _export_command(folder)
            served = cpu_s(site.pid) - before
            server.append(served / rows * 1e6)
            whole.append((served + command) / rows * 1e6)
    put("export", Figure(p50(server), p50(floor)))
    put("export-cli", Figure(p50(whole), p50(floor)))


def _select(path: Path) -> tuple[float, int]:
    """CPU seconds of reading every row, and how many there are."""
    with closing(open_reader(path)) as book:
        begun, count = time.process_time(), 0
        for _ in book.execute(f"SELECT {COLUMNS} FROM events ORDER BY seq"):
            count += 1
        return time.process_time() - begun, count


def _export_command(folder: Path) -> float:
    """Export everything to a file; return the command's CPU seconds."""
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        target = str(Path(name) / "all.jsonl")
        words = ["export", "--config", str(folder), "--output", target]
        before = os.times()
        subprocess.run(
            [sys.executable, "-c", COMMAND.format(words=words)],
            check=True, capture_output=True, timeout=PATIENCE_S,
        )  # fmt: skip
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - (before.children_user + before.children_system)
        )


async def _backup(size: Size, put: Put, path: Path) -> None:
    copies, backups, alone, beside = [], [], [], []
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        mine = Path(name) / "groupx.db"
        shutil.copyfile(path, mine)
        async with await Ledger.open(mine) as ledger:
            for number in range(size.rounds):
                copies.append(_copy(mine, Path(name) / "copy.db"))
                alone += await _send(ledger, f"alone-{number}", size.of(100, 3))
                took, sent = await _back_up(ledger, Path(name) / "backup.db", number)
                backups.append(took)
                beside += sent
    put("backup", Figure(p50(backups), p50(copies)))
    put("backup-sends", Figure(p95(beside), p95(alone), f"p50 {p50(beside):.3g} ms"))


def _copy(source: Path, target: Path) -> float:
    begun = time.perf_counter()
    shutil.copyfile(source, target)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    took = time.perf_counter() - begun
    target.unlink()
    return took


async def _back_up(ledger: Ledger, target: Path, number: int) -> tuple[float, list[float]]:
    begun = time.perf_counter()
    copying = asyncio.get_running_loop().run_in_executor(None, copy_online, ledger.path, target)
    sent = await _send(ledger, f"beside-{number}-first", 1)
    while not copying.done():
        sent += await _send(ledger, f"beside-{number}-{len(sent)}", 5)
    await copying
    took = time.perf_counter() - begun
    await asyncio.to_thread(target.unlink)
    return took, sent


async def _send(ledger: Ledger, name: str, count: int) -> list[float]:
    """Accept messages at a steady pace; return how long each took, in ms."""
    took = []
    for number in range(count):
        command = AcceptMessage(f"{name}-{number}", "room:main", f"{name} {number}", ())
        step = partial(accept_message, command=command, limits=Limits(), now=utc_now_iso())
        begun = time.perf_counter()
        await ledger.write(step)
        took.append((time.perf_counter() - begun) * 1000)
        await asyncio.sleep(PAUSE_S)
    return took


PARTS = (_export_rows, _backup_rows)
