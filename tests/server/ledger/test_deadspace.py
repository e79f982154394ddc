"""Only bytes that belong to nothing are told, and all of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger.deadspace import dead_ranges, layout_of
from groupx_server.ledger.rawfile import RawFile


def _database(path: Path, *pragmas: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        for pragma in pragmas:
            book.execute(f"PRAGMA {pragma}")
        book.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT)")
        for number in range(300):
            book.execute("INSERT INTO t(text) VALUES (?)", (f"row {number} " + "x" * number,))


def _ranges(path: Path) -> list[tuple[int, int]]:
    data = path.read_bytes()
    layout = layout_of(data)
    assert layout is not None
    return list(dead_ranges(data, 0, layout))


def _soiled(path: Path, page_size: int) -> None:
    """Put something into the gap of the second page."""
    data = bytearray(path.read_bytes())
    page = bytes(data[page_size : 2 * page_size])
    kind, count = page[0], int.from_bytes(page[3:5], "big")
    begin = (12 if kind in (2, 5) else 8) + 2 * count
    assert int.from_bytes(page[5:7], "big") - begin > 8, "this page has no gap"
    data[page_size + begin : page_size + begin + 6] = b"secret"
    path.write_bytes(data)


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_a_gap_that_holds_something_is_wiped_and_nothing_else(
    tmp_path: Path, page_size: int
) -> None:
    path = tmp_path / "a.db"
    _database(path, f"page_size={page_size}", "secure_delete=ON")
    with closing(sqlite3.connect(path)) as book:
        before = book.execute("SELECT * FROM t").fetchall()
    _soiled(path, page_size)
    assert b"secret" in path.read_bytes()
    file = RawFile(path)
    for begin, end in _ranges(path):
        file.wipe(begin, end)
    file.sync()
    file.close()
    assert b"secret" not in path.read_bytes()
    assert _ranges(path) == []
    with closing(sqlite3.connect(path)) as book:
        assert book.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert book.execute("SELECT * FROM t").fetchall() == before


def test_a_page_that_says_something_impossible_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _database(path, "page_size=4096")
    layout = layout_of(path.read_bytes())
    assert layout is not None
    page = bytearray(path.read_bytes()[4096:8192])
    page[5:7] = (4095).to_bytes(2, "big")  # its cells lie before their beginning
    assert list(dead_ranges(bytes(page), 4096, layout)) == []
    page[5:7] = (9).to_bytes(2, "big")  # its cells begin inside the table of cells
    assert list(dead_ranges(bytes(page), 4096, layout)) == []
    overflow = b"\x00\x00\x00\x07" + b"text" * 1023
    assert list(dead_ranges(overflow, 8192, layout)) == []


def test_other_files_and_other_kinds_of_databases_have_no_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    _database(path, "auto_vacuum=FULL")
    assert layout_of(path.read_bytes()) is None
    assert layout_of(b"SQLite format 3\x00") is None
    assert layout_of(b"x" * 200) is None
