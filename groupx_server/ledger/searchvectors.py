"""Vectors of the search index's rows: which lack one, what they are made of, and what it cost.

Rows get vectors in the order of their numbers, which are never used twice, so one number says how
far it came; whoever takes a row out takes its vector with it (`searchrows.take_out`), and a vector
that comes too late finds no row and is dropped. Another model begins anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import orjson

from groupx_server.domain.vectors import Vector, unpack
from groupx_server.ledger.searchrows import content_at

Purpose = Literal["index", "query"]
KEY: Final = "search_vectors"


class Source(NamedTuple):
    """A row without a vector, and the text that one is made of."""

    row_id: int
    text: str


class Calls(NamedTuple):
    """What was asked of an endpoint."""

    calls: int = 0
    failed: int = 0
    texts: int = 0
    chars: int = 0


def next_sources(
    connection: sqlite3.Connection, model: str, count: int, chars: int
) -> list[Source]:
    """The next rows, each with the first `chars` characters of who said it and what."""
    rows = connection.execute(
        "SELECT row_id, kind, ref_id, speaker FROM search_rows WHERE row_id > ?"
        " ORDER BY row_id LIMIT ?",
        (position(connection, model), count),
    ).fetchall()
    return [
        Source(row_id, f"{speaker}: {content_at(connection, kind, ref_id)}"[:chars])
        for row_id, kind, ref_id, speaker in rows
    ]


def position(connection: sqlite3.Connection, model: str) -> int:
    """The last row that was looked at for this model; 0 for another one."""
    found = connection.execute("SELECT value FROM ledger_meta WHERE key = ?", (KEY,)).fetchone()
    stored = {} if found is None else orjson.loads(found[0])
    return int(stored["row"]) if stored.get("model") == model else 0


def left(connection: sqlite3.Connection, model: str) -> int:
    """How many rows there are to do, at most."""
    (newest,) = connection.execute("SELECT COALESCE(MAX(row_id), 0) FROM search_rows").fetchone()
    return max(0, int(newest) - position(connection, model))


def put_vectors(
    connection: sqlite3.Connection, model: str, vectors: Mapping[int, bytes | None]
) -> None:
    """Store what rows got (None: nothing, for a row without text), and go on behind them."""
    is_other = position(connection, model) == 0 or _differ(connection, vectors)
    if is_other:
        drop_vectors(connection)
        if min(vectors) > _first(connection):
            return  # begin anew at the first row
    connection.executemany(
        "INSERT OR REPLACE INTO search_vectors(row_id, vector)"
        " SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM search_rows WHERE row_id = ?1)",
        [(row_id, vector) for row_id, vector in vectors.items() if vector is not None],
    )
    connection.execute(
        "INSERT INTO ledger_meta(key, value) VALUES (?, ?)"
        " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (KEY, orjson.dumps({"model": model, "row": max(vectors)}).decode()),
    )


def _differ(connection: sqlite3.Connection, vectors: Mapping[int, bytes | None]) -> bool:
    """The endpoint gives vectors of another size than before."""
    stored = connection.execute("SELECT length(vector) FROM search_vectors LIMIT 1").fetchone()
    sizes = {len(vector) for vector in vectors.values() if vector is not None}
    return stored is not None and not sizes <= {stored[0]}


def _first(connection: sqlite3.Connection) -> int:
    (first,) = connection.execute("SELECT COALESCE(MIN(row_id), 0) FROM search_rows").fetchone()
    return int(first)


def drop_vectors(connection: sqlite3.Connection) -> None:
    """Forget all vectors."""
    connection.execute("DELETE FROM search_vectors")
    connection.execute("DELETE FROM ledger_meta WHERE key = ?", (KEY,))


class Near(NamedTuple):
    """A row's own vector and those of the messages before and after it."""

    own: Vector
    near: tuple[Vector, ...]


def vectors_of(
    connection: sqlite3.Connection, rows: Sequence[tuple[int, str | None, int | None]]
) -> dict[int, Near]:
    """The vectors of rows (number, room, seq), by number; a row without one is missing."""
    known: dict[int, Vector | None] = {}
    found: dict[int, Near] = {}
    for row_id, room_id, seq in rows:
        own = _vector(connection, row_id, known)
        if own is None:
            continue
        beside = () if room_id is None or seq is None else _beside(connection, room_id, seq)
        near = [_vector(connection, each, known) for each in beside]
        found[row_id] = Near(own, tuple(each for each in near if each is not None))
    return found


def _vector(
    connection: sqlite3.Connection, row_id: int, known: dict[int, Vector | None]
) -> Vector | None:
    if row_id not in known:
        found = connection.execute(
            "SELECT vector FROM search_vectors WHERE row_id = ?", (row_id,)
        ).fetchone()
        known[row_id] = None if found is None else unpack(found[0])
    return known[row_id]


def _beside(connection: sqlite3.Connection, room_id: str, seq: int) -> list[int]:
    """Rows of the messages before and after one."""
    return [
        int(row_id)
        for sign, order in (("<", "DESC"), (">", "ASC"))
        for (row_id,) in connection.execute(
            "SELECT r.row_id FROM (SELECT event_id FROM room_messages WHERE room_id = ?"
            f" AND seq {sign} ? ORDER BY seq {order} LIMIT 1) m"
            " JOIN search_rows r ON r.kind = 'message' AND r.ref_id = m.event_id",
            (room_id, seq),
        )
    ]


def note_calls(
    connection: sqlite3.Connection, day: str, model: str, counts: Mapping[Purpose, Calls]
) -> None:
    """Add to what a day's calls were."""
    connection.executemany(
        "INSERT INTO embedding_calls(day, model, purpose, calls, failed, texts, chars)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(day, model, purpose) DO UPDATE SET"
        " calls = calls + excluded.calls, failed = failed + excluded.failed,"
        " texts = texts + excluded.texts, chars = chars + excluded.chars",
        [(day, model, purpose, *each) for purpose, each in counts.items()],
    )


def calls_on(connection: sqlite3.Connection, day: str) -> int:
    """All calls of a day."""
    (count,) = connection.execute(
        "SELECT COALESCE(SUM(calls), 0) FROM embedding_calls WHERE day = ?", (day,)
    ).fetchone()
    return int(count)
