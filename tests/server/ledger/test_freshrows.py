"""The newest events, held for those who listen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger import freshrows
from groupx_server.ledger.freshrows import FreshRows
from groupx_server.ledger.rooms import create_room
from support.transactions import open_book

NOW = "2026-01-31T09:15:00.250Z"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_book(tmp_path)) as connection:
        yield connection


def _grow(book: sqlite3.Connection, *names: str) -> int:
    """Add an event for each name; return the newest seq."""
    for name in names:
        create_room(book, f"room:{name}", name, NOW)
    (seq,) = book.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    return int(seq)


def _seqs(fresh: FreshRows, after: int, limit: int = 99) -> list[int] | None:
    rows = fresh.after(after, limit)
    return None if rows is None else [row.seq for row in rows]


def test_what_was_committed_is_given_in_order_from_any_place_that_is_held(
    book: sqlite3.Connection,
) -> None:
    fresh = FreshRows()
    fresh.take(fresh.read(book))
    fresh.is_wanted = True
    begin = _grow(book)
    for name in ("a", "b", "c"):
        _grow(book, name)
        fresh.take(fresh.read(book))
    assert _seqs(fresh, begin) == [begin + 1, begin + 2, begin + 3]
    assert _seqs(fresh, begin + 1, limit=1) == [begin + 2]
    assert _seqs(fresh, begin + 3) == []


def test_nothing_is_held_for_nobody_and_what_came_then_is_left_to_the_readers(
    book: sqlite3.Connection,
) -> None:
    fresh = FreshRows()
    begin = _grow(book)
    middle = _grow(book, "a")
    fresh.take(fresh.read(book))
    assert _seqs(fresh, begin) is None
    fresh.is_wanted = True
    _grow(book, "b")
    fresh.take(fresh.read(book))
    assert _seqs(fresh, begin) is None
    assert _seqs(fresh, middle) == [middle + 1]


def test_a_transaction_that_was_lost_leaves_no_gap_and_no_row_of_its_own(
    book: sqlite3.Connection,
) -> None:
    fresh = FreshRows()
    fresh.is_wanted = True
    begin = _grow(book, "a")
    fresh.take(fresh.read(book))
    book.execute("BEGIN")
    _grow(book, "lost", "too")
    fresh.read(book)
    book.execute("ROLLBACK")
    _grow(book, "b")
    fresh.take(fresh.read(book))
    assert _seqs(fresh, begin) in (None, [begin + 1])
    _grow(book, "c")
    fresh.take(fresh.read(book))
    rows = fresh.after(begin + 1, 9)
    assert rows is not None
    assert [b"room:c" in row.data for row in rows] == [True]


def test_more_than_is_kept_moves_the_place_from_which_it_is_given(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshrows, "MAX_ROWS", 3)
    fresh = FreshRows()
    fresh.take(fresh.read(book))
    fresh.is_wanted = True
    begin = _grow(book)
    for name in ("a", "b", "c", "d", "e"):
        _grow(book, name)
        fresh.take(fresh.read(book))
    assert _seqs(fresh, begin) is None
    assert _seqs(fresh, begin + 1) is None
    assert _seqs(fresh, begin + 2) == [begin + 3, begin + 4, begin + 5]


def test_after_a_removal_nothing_is_given_that_was_read_before(book: sqlite3.Connection) -> None:
    fresh = FreshRows()
    fresh.is_wanted = True
    begin = _grow(book)
    fresh.take(fresh.read(book))
    end = _grow(book, "a")
    fresh.take(fresh.read(book))
    fresh.forget()
    assert _seqs(fresh, begin) is None
    assert _seqs(fresh, end) == []
