"""How long a message waits to be accepted, alone and while a backup of a large ledger is made.

    PYTHONPATH=tests python tests/bench/backup_bench.py

Prints one line of JSON: milliseconds, megabytes, seconds.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import AcceptMessage, accept_message
from groupx_server.ledger.backup import copy_online
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.times import utc_now, utc_now_iso

EVENTS: Final = 150_000
BODY: Final = "x" * 700
SENDS: Final = 400
PAUSE_S: Final = 0.005
"""Two hundred messages a second: far more than people and agents write."""


def fill(path: Path) -> None:
    """A ledger of some hundred megabytes."""
    prepare(path, now=utc_now)
    now = utc_now_iso()
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("BEGIN")
        for number in range(EVENTS):
            event = NewEvent(
                event_id=f"evt_{number:032d}",
                room_id="room:main",
                type="message.created",
                actor_id="user:web",
                correlation_id=f"corr_{number:032d}",
                occurred_at=now,
                body={"content": BODY},
            )
            insert_event(book, event)
        book.execute("COMMIT")


async def send(ledger: Ledger, name: str, count: int) -> list[float]:
    """Accept messages at a steady pace; return how long each took, in seconds."""
    took = []
    for number in range(count):
        command = AcceptMessage(f"{name}-{number}", "room:main", f"{name} {number}", ())
        begun = time.perf_counter()
        await ledger.write(
            partial(accept_message, command=command, limits=Limits(), now=utc_now_iso())
        )
        took.append(time.perf_counter() - begun)
        await asyncio.sleep(PAUSE_S)
    return took


async def measure(folder: Path) -> dict[str, float]:
    path = folder / "groupx.db"
    fill(path)
    async with await Ledger.open(path) as ledger:
        alone = await send(ledger, "alone", SENDS)
        beside: list[float] = []
        begun = time.perf_counter()
        rounds = 0
        while len(beside) < SENDS:
            target = folder / f"copy-{rounds}.db"
            copying = asyncio.get_running_loop().run_in_executor(None, copy_online, path, target)
            while not copying.done():
                beside += await send(ledger, f"beside-{rounds}-{len(beside)}", 5)
            await copying
            target.unlink()
            rounds += 1
        took = (time.perf_counter() - begun) / rounds
    return {
        "ledgerMb": round(path.stat().st_size / 1e6),
        "backupS": round(took, 2),
        "aloneP50Ms": _ms(alone, 50),
        "aloneP95Ms": _ms(alone, 95),
        "besideP50Ms": _ms(beside, 50),
        "besideP95Ms": _ms(beside, 95),
        "besideMaxMs": round(max(beside) * 1000, 1),
    }


def _ms(values: list[float], percent: int) -> float:
    return round(statistics.quantiles(values, n=100)[percent - 1] * 1000, 2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        print(json.dumps(asyncio.run(measure(Path(name)))))
