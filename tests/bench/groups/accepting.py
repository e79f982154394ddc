"""Accepting messages: goals 1 to 3. The floor commits the same rows with plain sqlite3."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path

from bench.rows import Figure, Put, Row, Size, least, more_by, times, times_at_least
from bench.sampling import awaited_ms, milliseconds, p50, p95
from bench.site import Site, bench_config, running
from bench.wire import Connection
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.store import Ledger
from groupx_server.ledger.times import utc_now
from groupx_shared.ids import new_id
from groupx_shared.version import EVENT_SCHEMA

CLIENTS = 32
COMMIT = "raw commit of the same rows"
SERIAL = "serial raw commits"

ROWS = (
    Row(
        "accept", "send → durable accept, 1 client, p50", "ms",
        times(2.3) | more_by(1.0, "ms"), times(1.8), COMMIT,
    ),
    Row(
        "accept-p95", "send → durable accept, 1 client, p95", "ms",
        times(2.3) | more_by(1.0, "ms"), times(1.8), COMMIT,
    ),
    Row(
        "accept-32", "accepts a second, 32 clients", "/s",
        times_at_least(1.4), times_at_least(2), SERIAL,
    ),
    Row("batch-32", "messages in a commit meanwhile, on average", "", least(4), least(8)),
    Row(
        "writer-32", "the writer alone, 32 submitters", "/s",
        times_at_least(4), times_at_least(6), SERIAL,
    ),
)  # fmt: skip

BODY = '{"content":"' + "x" * 100 + '"}'


def write_rows(book: sqlite3.Connection) -> None:
    """The rows of one accepted message without a target, in a transaction of the caller's: with the
    product's ids, which rise with time, so that rows that come together lie together."""
    name, event_id = uuid.uuid4().hex, new_id("evt")
    seq = book.execute(
        "INSERT INTO events(event_id, schema_version, room_id, event_type, actor_id, actor_kind,"
        " actor_display_name, instance_id, targets_json, correlation_id, occurred_at, body_json,"
        " provenance_json) VALUES (?, ?, 'room:main', 'message.created', 'user:web', 'user',"
        " 'You', 'instance:web', '[]', ?, '2026-01-01T00:00:00.000Z', ?, '{}')",
        (event_id, EVENT_SCHEMA, new_id("corr"), BODY),
    ).lastrowid
    book.execute(
        "UPDATE rooms SET last_seq = ?, event_count = event_count + 1,"
        " message_count = message_count + 1, message_chars = message_chars + 100"
        " WHERE room_id = 'room:main'",
        (seq,),
    )
    book.execute(
        "INSERT INTO room_messages VALUES ('room:main', ?, ?, 'user:web', 100, ?, ?)",
        (seq, event_id, seq, seq),
    )
    book.execute(
        "INSERT INTO client_commands VALUES (?, 'binding:web', ?, 'message.send', ?, '{}',"
        " '2026-01-01T00:00:00.000Z')",
        (new_id("cmd"), name, name),
    )


def open_raw(path: Path) -> sqlite3.Connection:
    """A connection with the durability that the product promises, and nothing else."""
    prepare(path, now=utc_now)
    book = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        book.execute(f"PRAGMA {pragma}")
    return book


def commit_raw(book: sqlite3.Connection) -> None:
    """One transaction of its own."""
    book.execute("BEGIN IMMEDIATE")
    write_rows(book)
    book.execute("COMMIT")


def raw_rate(book: sqlite3.Connection, count: int) -> float:
    """Serial commits a second."""
    begun = time.perf_counter()
    for _ in range(count):
        commit_raw(book)
    return count / (time.perf_counter() - begun)


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        folder = Path(name)
        with closing(open_raw(folder / "raw.db")) as book:
            (folder / "site").mkdir()
            with running(folder / "site", bench_config()) as site:
                await _one_client(size, put, site, book)
                await _many_clients(size, put, site, book)
            await _writer(size, put, folder, book)


async def _one_client(size: Size, put: Put, site: Site, book: sqlite3.Connection) -> None:
    """A raw commit and a send take turns."""
    raw, ours = [], []
    async with Connection(site.address) as connection:
        for _ in range(size.of(1_000, 5)):
            raw.append(milliseconds(lambda: commit_raw(book)))
            ours.append(await awaited_ms(connection.send("x" * 100)))
    put("accept", Figure(p50(ours), p50(raw)))
    put("accept-p95", Figure(p95(ours), p95(raw)))


async def _many_clients(size: Size, put: Put, site: Site, book: sqlite3.Connection) -> None:
    each = size.of(60, 1)
    ours, raw, batches = [], [], []
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(Connection(site.address)) for _ in range(CLIENTS)
        ]
        for _ in range(size.rounds):
            raw.append(raw_rate(book, each * 8))
            before, begun = _commits(site), time.perf_counter()
            async with asyncio.TaskGroup() as tasks:
                for connection in connections:
                    tasks.create_task(_send_many(connection, each))
            ours.append(CLIENTS * each / (time.perf_counter() - begun))
            batches.append(CLIENTS * each / max(1, _commits(site) - before))
    put("accept-32", Figure(p50(ours), p50(raw)))
    put("batch-32", Figure(p50(batches)))


def _commits(site: Site) -> int:
    """How many transactions were committed, as the index of the WAL counts them (`iChange` in its
    header); those of the search index are among them."""
    header = (site.server.folder / ".groupx" / "groupx.db-shm").read_bytes()[:12]
    return int.from_bytes(header[8:], sys.byteorder)


async def _send_many(connection: Connection, count: int) -> None:
    for _ in range(count):
        await connection.send("x" * 100)


async def _writer(size: Size, put: Put, folder: Path, book: sqlite3.Connection) -> None:
    """The writer with the floor's own rows: what group commit brings."""
    each = size.of(120, 2)
    ours, raw = [], []
    async with await Ledger.open(folder / "writer.db") as ledger:
        for _ in range(size.rounds):
            raw.append(raw_rate(book, each * 8))
            ours.append(await _rate(lambda: ledger.write(write_rows), each))
    put("writer-32", Figure(p50(ours), p50(raw)))


async def _rate(write: Callable[[], object], each: int) -> float:
    async def submit() -> None:
        for _ in range(each):
            await write()  # type: ignore[misc]  # a coroutine

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(CLIENTS):
            tasks.create_task(submit())
    return CLIENTS * each / (time.perf_counter() - begun)
