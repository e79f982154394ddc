"""Search: how long it takes in one room and everywhere, what indexing costs, when it is ready.

Queries are words of the texts that are searched: three or four of them, like people give.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bench.ledgerfile import make
from bench.rows import Figure, Put, Row, Size, least, more_by, most
from bench.sampling import milliseconds, p50, p95
from bench.site import filled_folder
from groupx_server.domain.limits import Limits
from groupx_server.domain.vectors import pack, unpack
from groupx_server.ledger.accept import AcceptMessage, accept_message
from groupx_server.ledger.connection import open_reader, open_writer
from groupx_server.ledger.search import Filters, Meaning, search
from groupx_server.ledger.searchindex import backlog, index_some, reset
from groupx_server.ledger.searchvectors import put_vectors
from groupx_server.ledger.times import utc_now_iso

ROWS = (
    Row("scoped-100k", "search in one room, 100k, p95", "ms", most(25, "ms"), most(12.5, "ms")),
    Row("scoped-1m", "search in one room, 1M, p95", "ms", most(120, "ms"), most(60, "ms")),
    Row("everywhere-100k", "search everywhere, 100k, p95", "ms", most(150, "ms"), most(75, "ms")),
    Row("everywhere-1m", "search everywhere, 1M, p95", "ms", most(300, "ms"), most(150, "ms")),
    Row("index-one", "append and index one message at 1M, p95", "ms", most(10, "ms"), None),
    Row("index-bulk", "building the index at 100k, messages a second", "/s", least(10_000), None),
    Row("search-ready", "1M: reader opened → first answer", "ms", most(1_000), most(500)),
    Row("search-size", "index, times the text", "×", most(2), None),
    Row("ledger-size", "ledger without vectors, times its events' JSON", "×", most(4.5), None),
    Row("meaning", "in one room with meaning, 100k vectors, p95", "ms", more_by(150, "ms"),
        more_by(75, "ms"), "by words"),
    Row("vector-size", "a vector of 384 numbers in the file", "bytes", most(400), None),
)  # fmt: skip


def _ask_rows(size: Size, put: Put) -> None:
    with filled_folder(size, 1) as middle, filled_folder(size, 2) as large:
        _queries(size, put, middle, "100k")
        _queries(size, put, large, "1m")
        put("search-ready", Figure(p50(_ready_ms(large) for _ in range(size.rounds))))
        put("search-size", Figure(_size_ratio(middle)))
        put("ledger-size", Figure(_ledger_ratio(middle)))
        _append(size, put, large)
        _meaning(size, put, middle)


def _path(folder: Path) -> Path:
    return folder / ".groupx" / "groupx.db"


def _queries(size: Size, put: Put, folder: Path, name: str) -> None:
    draw = random.Random(4)
    with closing(open_reader(_path(folder))) as book:
        texts = _texts(book)
        scoped, everywhere, capped = [], [], 0
        for _ in range(size.of(120, 3)):
            query = _query(draw, texts)
            room = f"room:side-{draw.randrange(49)}"
            scoped.append(milliseconds(lambda r=room, q=query: _search(book, q, r)))  # type: ignore[misc]  # bound now
            begun = time.perf_counter()
            capped += _search(book, query, None)
            everywhere.append((time.perf_counter() - begun) * 1000)
    put(f"scoped-{name}", Figure(p95(scoped), None, f"p50 {p50(scoped):.3g} ms"))
    note = f"p50 {p50(everywhere):.3g} ms, {capped} of {len(everywhere)} capped"
    put(f"everywhere-{name}", Figure(p95(everywhere), None, note))


def _search(book: sqlite3.Connection, query: str, room_id: str | None) -> bool:
    """Search as the server does; True when it said that it was capped."""
    found = search(book, query, Filters(room_id=room_id), utc_now_iso())
    return found.is_capped


NUMBERS = 384
"""Of a vector: what small models give."""


def _meaning(size: Size, put: Put, folder: Path) -> None:
    """Searches with and without a meaning, by turns, where every row has a vector. The vectors are
    by chance: what they cost does not depend on what they say. Encoding is the endpoint's."""
    draw = random.Random(5)
    vectors = [pack([draw.gauss(0, 1) for _ in range(NUMBERS)]) for _ in range(500)]
    with closing(open_writer(_path(folder))) as book:
        _in_transaction(book, lambda: _index_all(book))
        rows = book.execute("SELECT row_id FROM search_rows").fetchall()
        given = {row_id: draw.choice(vectors) for (row_id,) in rows}
        _in_transaction(book, lambda: put_vectors(book, "chance", dict(given)))
        meaning = Meaning(unpack(vectors[0]), 0.5, 0.35)
        texts, plain, meant = _texts(book), [], []
        for _ in range(size.of(120, 3)):
            query = _query(draw, texts)
            filters = Filters(room_id=f"room:side-{draw.randrange(49)}")
            plain.append(milliseconds(lambda q=query, f=filters: _ask(book, q, f, None)))  # type: ignore[misc]  # bound now
            meant.append(milliseconds(lambda q=query, f=filters: _ask(book, q, f, meaning)))  # type: ignore[misc]  # bound now
    note = f"p50 {p50(meant):.3g} ms, by words {p50(plain):.3g} ms"
    put("meaning", Figure(p95(meant), p95(plain), note))
    put("vector-size", Figure(len(vectors[0])))


def _ask(book: sqlite3.Connection, query: str, filters: Filters, meaning: Meaning | None) -> None:
    search(book, query, filters, utc_now_iso(), meaning=meaning)


def _texts(book: sqlite3.Connection) -> list[str]:
    rows = book.execute(
        "SELECT json_extract(body_json, '$.content') FROM events"
        " WHERE event_type = 'message.created' ORDER BY seq LIMIT 400"
    )
    return [str(text) for (text,) in rows]


def _query(draw: random.Random, texts: list[str]) -> str:
    words = draw.choice(texts).split()
    return " ".join(draw.choices(words, k=draw.randint(3, 5)))


def _ready_ms(folder: Path) -> float:
    """Open the ledger and search, as a server that has just started."""
    begun = time.perf_counter()
    with closing(open_reader(_path(folder))) as book:
        _search(book, "what did we say of the plan", "room:side-1")
    return (time.perf_counter() - begun) * 1000


def _size_ratio(folder: Path) -> float:
    """Bytes of the index by bytes of the texts of messages."""
    with closing(open_reader(_path(folder))) as book:
        (index,) = book.execute("SELECT SUM(LENGTH(block)) FROM search_fts_data").fetchone()
        (text,) = book.execute(
            "SELECT SUM(LENGTH(CAST(json_extract(body_json, '$.content') AS BLOB))) FROM events"
            " WHERE event_type = 'message.created'"
        ).fetchone()
    return float(index) / float(text)


def _ledger_ratio(folder: Path) -> float:
    """Bytes in use (what was freed is written over again) by bytes of the bodies of all events."""
    with closing(open_reader(_path(folder))) as book:
        (pages,) = book.execute("PRAGMA page_count").fetchone()
        (free,) = book.execute("PRAGMA freelist_count").fetchone()
        (page,) = book.execute("PRAGMA page_size").fetchone()
        (vectors,) = book.execute("SELECT SUM(LENGTH(vector)) FROM search_vectors").fetchone()
        bodies = "SELECT SUM(LENGTH(CAST(body_json AS BLOB))) FROM events"
        (text,) = book.execute(bodies).fetchone()
    return float((pages - free) * page - (vectors or 0)) / float(text)


def _append(size: Size, put: Put, folder: Path) -> None:
    """Accept and index, each in its transaction, with the durability of the product."""
    took = []
    with closing(open_writer(_path(folder))) as book:
        _in_transaction(book, lambda: _index_all(book))
        for number in range(size.of(200, 3)):
            command = AcceptMessage(f"index-{time.time_ns()}-{number}", "room:main", TEXT, ())
            took.append(milliseconds(lambda c=command: _append_one(book, c)))  # type: ignore[misc]  # bound now
    put("index-one", Figure(p95(took), None, f"p50 {p50(took):.3g} ms"))


TEXT = "The plan for the reader is to keep the remainder and to flush it when it closes. " * 3


def _append_one(book: sqlite3.Connection, command: AcceptMessage) -> None:
    _in_transaction(book, lambda: accept_message(book, command, Limits(), utc_now_iso()))
    _in_transaction(book, lambda: index_some(book))


def _in_transaction(book: sqlite3.Connection, work: Callable[[], object]) -> None:
    book.execute("BEGIN IMMEDIATE")
    work()
    book.execute("COMMIT")


def _index_all(book: sqlite3.Connection) -> None:
    while not backlog(book).is_empty:
        index_some(book)


def _bulk(size: Size, put: Put) -> None:
    """Build the index of a smaller ledger anew; its commits are the product's own steps."""
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as name:
        path = Path(name) / "groupx.db"
        make(path, size.of(20_000, 300))
        with closing(open_writer(path)) as book:
            count, chars = book.execute("SELECT count(*), sum(chars) FROM room_messages").fetchone()
            _in_transaction(book, lambda: reset(book))
            begun = time.perf_counter()
            while not backlog(book).is_empty:
                _in_transaction(book, lambda: index_some(book))
            took = time.perf_counter() - begun
    put(
        "index-bulk",
        Figure(count / took, None, f"of {count:,} messages, {chars // count} characters each"),
    )


PARTS = (_ask_rows, _bulk)
