"""Flat in the room: the same questions to servers on ledgers of three sizes, in turns.

Half of all events are in the main room, which is the one that is asked about. A figure is the
largest ledger's, its counterpart the smallest's; the middle one is in the note. Goals 14 and 15
compare with one row by key, and with the last page, in the same largest ledger.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from bench.rows import Figure, Put, Row, Size, most, times
from bench.sampling import awaited_ms, milliseconds, p50, p95, rss_mb
from bench.site import Site, TurnTimes, bench_config, filled_folder, running, talking
from bench.wire import Connection, Stream
from groupx_server.ledger.connection import open_reader
from groupx_server.ledger.events import page

SMALL = "10k ledger"
FLAT = times(1.3)
NAMES = ("10k", "100k", "1M")

READS = {
    "bootstrap": ("GET /api/bootstrap", "/api/bootstrap"),
    "last-page": ("last page of the room", "/api/rooms/room%3Amain/events?limit=50"),
    "middle-page": ("middle page of the room", "/api/rooms/room%3Amain/events?limit=50&before="),
    "context": ("GET /api/context", "/api/context?roomId=room%3Amain"),
    "roster": ("GET /api/agents", "/api/agents"),
    "rooms": ("GET /api/rooms", "/api/rooms"),
    "open-turns": ("GET /api/turns", "/api/turns?roomId=room%3Amain"),
    "ended-turns": ("GET /api/turns of the past", "/api/turns?status=all&limit=50"),
    "roots": ("GET /api/roots", "/api/roots"),
    "usage": ("GET /api/usage of the room", "/api/usage?roomId=room%3Amain"),
}
TOOLS = {"read": "a turn that reads with a room tool", "ask": "a turn that asks another agent"}

ROWS = (
    Row("health", "GET /api/health", "ms", FLAT & most(2, "ms"), None, SMALL),
    *(Row(key, title, "ms", FLAT, None, SMALL) for key, (title, _) in READS.items()),
    *(Row(key, title, "ms", FLAT, None, SMALL) for key, title in TOOLS.items()),
    Row("flat-accept", "accept, p50", "ms", FLAT, None, SMALL),
    Row("claim", "send → claimed", "ms", FLAT, None, SMALL),
    Row("first-delta", "send → first delta", "ms", FLAT, None, SMALL),
    Row("terminal", "send → end of the turn", "ms", FLAT, None, SMALL),
    Row("catch-up-end", "stream from the last 100 events", "ms", FLAT, None, SMALL),
    Row("rss", "server, memory after all this", "MB", most(100, "MB"), None, SMALL),
    Row("page-key", "last page, in the ledger, p50", "ms", times(20), None, "one row by key"),
    Row("page-http", "last page over HTTP, p95", "ms", most(5), None),
    Row("page-middle", "middle page, in the ledger, p50", "ms", times(3), times(2), "last page"),
)  # fmt: skip


@dataclass
class Open:
    """One server with a client; what was measured so far."""

    site: Site
    stream: Stream
    connection: Connection
    middle: int
    root: str
    took: dict[str, list[float]]


async def measure(size: Size, put: Put) -> None:
    """Measure all rows of this file."""
    with ExitStack() as files:
        folders = [files.enter_context(filled_folder(size, which)) for which in range(3)]
        async with AsyncExitStack() as stack:
            places = [await _open(stack, folder) for folder in folders]
            for place in places:
                for _ in range(3):
                    await _ask_all(place, {})
                    await place.site.turn(place.stream, place.connection)
            for _ in range(size.of(40, 1)):
                for place in places:
                    await _ask_all(place, place.took)
            for _ in range(size.of(20, 1)):
                for place in places:
                    await _work(place)
            _put_all(put, places)
        _page_rows(size, put, folders[2] / ".groupx" / "groupx.db", places[2])


async def _open(stack: AsyncExitStack, folder: Path) -> Open:
    """Start a server, and have one turn done, whose root `read` looks at later."""
    site = stack.enter_context(running(folder, bench_config("bot", "other", settle=False)))
    stream, connection = await stack.enter_async_context(talking(site))
    room = await connection.json("/api/bootstrap?limit=1")
    await site.turn(stream, connection)
    last = await connection.json("/api/rooms/room%3Amain/events?limit=1")
    (end,) = last["events"]
    return Open(site, stream, connection, room["throughSeq"] // 2, end["correlationId"], {})


async def _ask_all(place: Open, took: dict[str, list[float]]) -> None:
    ask = place.connection.get
    works: dict[str, Callable[[], Awaitable[object]]] = {"health": lambda: ask("/api/health")}
    for key, (_, path) in READS.items():
        whole = f"{path}{place.middle}" if path.endswith("before=") else path
        works[key] = _bound(ask, whole)
    works["flat-accept"] = lambda: place.connection.send("x" * 100)
    for key, work in works.items():
        took.setdefault(key, []).append(await awaited_ms(work()))


def _bound(ask: Callable[[str], Awaitable[object]], path: str) -> Callable[[], Awaitable[object]]:
    return lambda: ask(path)


async def _work(place: Open) -> None:
    """A turn, a turn for each tool, and a reader that was away."""
    took = place.took
    times_: TurnTimes = await place.site.turn(place.stream, place.connection)
    for key, value in (
        ("claim", times_.claimed), ("first-delta", times_.first_delta), ("terminal", times_.ended)
    ):  # fmt: skip
        took.setdefault(key, []).append(value)
    script = f"[[mcp-call read correlationId={place.root};limit=20]]"
    reading = await place.site.turn(place.stream, place.connection, script)
    took.setdefault("read", []).append(reading.ended)
    took.setdefault("ask", []).append(await awaited_ms(_ask_another(place)))
    newest = (await place.connection.json("/api/bootstrap?limit=1"))["throughSeq"]
    took.setdefault("catch-up-end", []).append(await awaited_ms(_catch_up(place, newest)))


async def _ask_another(place: Open) -> None:
    await place.site.turn(place.stream, place.connection, "[[mcp-ask other ((say hi))]]")
    await place.stream.until("turn.completed")  # the other's was the first


async def _catch_up(place: Open, newest: int) -> None:
    async with talking(place.site, f"?afterSeq={newest - 100}") as (stream, _):
        await stream.until_seq(newest)


def _put_all(put: Put, places: list[Open]) -> None:
    for key in places[0].took:
        small, middle, large = (p50(place.took[key]) for place in places)
        put(key, Figure(large, small, f"{NAMES[1]}: {middle:.3g} ms"))
    memory = [rss_mb(place.site.pid) for place in places]
    put("rss", Figure(memory[2], memory[0], f"{NAMES[1]}: {memory[1]:.3g} MB"))
    put("page-http", Figure(p95(places[2].took["last-page"])))


def _page_rows(size: Size, put: Put, path: Path, place: Open) -> None:
    """Within the ledger: a page beside one row by key, and the middle beside the end."""
    with closing(open_reader(path)) as book:
        works: dict[str, Callable[[], object]] = {
            "key": lambda: _one_row(book, place.middle),
            "last": lambda: page(book, "room:main", limit=50),
            "middle": lambda: page(book, "room:main", before=place.middle, limit=50),
        }
        took: dict[str, list[float]] = {key: [] for key in works}
        for _ in range(size.of(400, 3)):
            for key, work in works.items():
                took[key].append(milliseconds(work))
    put("page-key", Figure(p50(took["last"]), p50(took["key"])))
    put("page-middle", Figure(p50(took["middle"]), p50(took["last"])))


def _one_row(book: sqlite3.Connection, seq: int) -> None:
    book.execute("SELECT * FROM events WHERE seq = ?", (seq,)).fetchone()
