"""Forgetting: how long a removal takes with every byte of it, whom it holds up, and what is left.

The time is that of the product's own steps, one of its backups renewed among them. A thousand
texts are removed in every way in which a ledger can hold one, from one with a past, and then their
words are looked for in the bytes of all files. Counterpart of the promises in the suite
(`test_forget_guarantees`).
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from bench.rows import Figure, Put, Row, Size, most
from bench.sampling import p50
from bench.site import filled_folder
from groupx_server.ledger.bytesearch import probes_of, stands_in
from groupx_server.ledger.connection import open_writer
from groupx_server.ledger.copies import foresee
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.purge import rewrite
from groupx_server.ledger.redaction import Target, redact
from groupx_server.ledger.revocations import note_removals, read_removals, remove_again, unlisted
from groupx_server.ledger.search import Filters, search
from groupx_server.ledger.searchindex import backlog, index_some, reset
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.summaries import end_summary
from groupx_server.ledger.times import utc_now, utc_now_iso
from groupx_server.portability.keeper import BackupKeeper
from groupx_server.portability.rotation import Policy
from groupx_server.rooms.purging import purge
from support.secrets_planted import NOW, ROOM, Planted, Planter, words_left

ROWS = (
    Row("purge-100k", "remove a text, every byte of it, 100k", "s", most(2, "s"), most(1, "s")),
    Row("purge-1m", "the same at 1M", "s", most(30, "s"), most(15, "s")),
    Row("purge-holds-100k", "… longest wait of a write meanwhile, 100k", "ms", most(500, "ms")),
    Row("purge-holds-1m", "… longest wait of a write meanwhile, 1M", "ms", most(3_000, "ms")),
    Row("words-left", "1,000 texts: words left in any byte of any file", "", most(0)),
    Row("come-back", "… found after index and ledger were made anew", "", most(0)),
)
T = TypeVar("T")
AGENT = "agent:bot"
BETWEEN_S = 0.01
"""Between two writes of the one who waits."""


@dataclass
class Removal:
    """What one took: seconds in all, longest wait of another's write in milliseconds."""

    seconds: float
    wait_ms: float


@contextmanager
def _copy(size: Size, which: int) -> Iterator[Path]:
    """A ledger of its own in a folder of its own, as its first purge leaves it."""
    with (
        filled_folder(size, which) as folder,
        tempfile.TemporaryDirectory(prefix="groupx-bench-") as name,
    ):
        path = Path(name) / "groupx.db"
        shutil.copyfile(folder / ".groupx" / "groupx.db", path)
        prepare(path, now=utc_now)
        with closing(open_writer(path)) as book:
            _indexed(book)
            rewrite(book, NOW)
            book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        for backup in path.parent.glob("*.bak.db"):
            backup.unlink()
        yield path


async def _purges(size: Size, put: Put, which: int, name: str, rounds: int) -> None:
    with _copy(size, which) as path:
        async with await Ledger.open(path) as ledger:
            keeper = BackupKeeper(ledger, Policy(7, timedelta(days=7)))
            keeper.folder.mkdir()
            await ledger.backup(keeper.folder / "groupx-20260101-000000.bak.db")
            took = [await _removal(ledger, keeper, number) for number in range(rounds)]
    put(f"purge-{name}", Figure(p50(each.seconds for each in took)))
    put(f"purge-holds-{name}", Figure(max(each.wait_ms for each in took)))


async def _removal(ledger: Ledger, keeper: BackupKeeper, number: int) -> Removal:
    event_id = await ledger.read(partial(_some_message, number=number))
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(_write_on(ledger, stop))
        begun = time.perf_counter()
        target = Target("event", event_id, "user:web", "web")
        foreseen = await ledger.read(partial(foresee, kind="event", ref_id=event_id))
        step = partial(redact, target=target, now=NOW, foreseen=foreseen)
        removed = await ledger.write(step)
        await purge(ledger, utc_now_iso())
        await keeper.renew()
        probes = probes_of(removed.texts)
        left = await asyncio.to_thread(stands_in, probes, ledger.raw.pieces())
        seconds = time.perf_counter() - begun
        stop.set()
    if left:
        raise RuntimeError(f"the text of {event_id} still stands in the file")
    return Removal(seconds, waiting.result())


async def _write_on(ledger: Ledger, stop: asyncio.Event) -> float:
    """Write all the time; return the longest wait in milliseconds."""
    longest = 0.0
    while not stop.is_set():
        begun = time.perf_counter()
        await ledger.write(_touch)
        longest = max(longest, time.perf_counter() - begun)
        await asyncio.sleep(BETWEEN_S)
    return longest * 1000


def _touch(book: sqlite3.Connection) -> None:
    book.execute("INSERT OR REPLACE INTO ledger_meta(key, value) VALUES ('bench', ?)", (NOW,))


def _some_message(book: sqlite3.Connection, number: int) -> str:
    row = book.execute(
        "SELECT event_id FROM events WHERE event_type = 'message.created'"
        " AND seq >= (SELECT MAX(seq) * (? + 1) / 5 FROM events) ORDER BY seq LIMIT 1",
        (number,),
    ).fetchone()
    return str(row[0])


async def _thousand(size: Size, put: Put) -> None:
    """Plant, remove, purge, look; then build the index anew, and restore an older copy."""
    with _copy(size, 0) as path:
        older = path.with_name("older.db")
        with closing(open_writer(path)) as book:
            _in_transaction(book, lambda: end_summary(book, ROOM, "superseded"))
            planter = Planter(book, 1, AGENT)
            made = [_in_transaction(book, planter.plant) for _ in range(size.of(1_000, 8))]
            _indexed(book)
            book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        shutil.copyfile(path, older)
        words = [word for each in made for word in each.words]
        there = len(words_left(words, [path]))
        begun = time.perf_counter()
        async with await Ledger.open(path) as ledger:
            for each in made:
                target = Target(each.kind, each.ref_id, "user:web", "web")
                query = partial(foresee, kind=each.kind, ref_id=each.ref_id)
                step = partial(redact, target=target, now=NOW, foreseen=await ledger.read(query))
                await ledger.write(step)
            await purge(ledger, utc_now_iso())
            removing = time.perf_counter() - begun
            note_removals(path, await ledger.read(partial(unlisted, removals=[])))
            files = [file for file in path.parent.glob("groupx*") if file.is_file()]
            left = words_left(words, files)
        note = f"of {there:,}; {len(made)} texts took {removing:.0f} s"
        put("words-left", Figure(len(left), None, note))
        back = _coming_back(path, made) + _restored(older, path, made)
        put("come-back", Figure(back, None, f"of {len(made)} texts"))


def _coming_back(path: Path, made: list[Planted]) -> int:
    with closing(open_writer(path)) as book:
        _in_transaction(book, lambda: reset(book))
        _indexed(book)
        return _found(book, made)


def _restored(older: Path, path: Path, made: list[Planted]) -> int:
    """The older copy, after the list of removals was applied to it."""
    with closing(open_writer(older)) as book:
        listed = read_removals(path)
        _in_transaction(book, lambda: remove_again(book, listed, NOW))
        _indexed(book)
        return _found(book, made)


def _found(book: sqlite3.Connection, made: list[Planted]) -> int:
    return sum(bool(search(book, " ".join(each.words[:4]), Filters(), NOW).found) for each in made)


def _indexed(book: sqlite3.Connection) -> None:
    while not backlog(book).is_empty:
        _in_transaction(book, lambda: index_some(book))


def _in_transaction(book: sqlite3.Connection, work: Callable[[], T]) -> T:
    book.execute("BEGIN IMMEDIATE")
    done = work()
    book.execute("COMMIT")
    return done


async def _middle(size: Size, put: Put) -> None:
    await _purges(size, put, 1, "100k", min(size.rounds, 3))


async def _large(size: Size, put: Put) -> None:
    await _purges(size, put, 2, "1m", 1)  # it takes up to half a minute


PARTS = (_thousand, _middle, _large)
