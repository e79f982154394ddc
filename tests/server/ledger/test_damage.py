"""A WAL that was cut off or changed after a kill: the ledger opens at the last whole commit."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger.store import Ledger
from groupx_server.ledger.verify import find_violations
from support.ledgers import opened
from support.transactions import open_book, send

MESSAGES = 12


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """What a killed server left: a database, and a WAL with one commit for each message."""
    (tmp_path / "live").mkdir()
    open_book(tmp_path / "live").close()
    path, left = tmp_path / "live" / "groupx.db", tmp_path / "left"
    left.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as book:
        book.execute("PRAGMA journal_mode=WAL")
        book.execute("PRAGMA foreign_keys=ON")
        for number in range(MESSAGES):
            book.execute("BEGIN")
            send(book, f"number {number}", to=("a",))
            book.execute("COMMIT")
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", left / f"groupx.db{suffix}")
    return left / "groupx.db"


async def _contents(path: Path) -> list[str]:
    async with await Ledger.open(path) as ledger:
        assert await ledger.read(find_violations) == []
    with opened(path) as book:
        rows = book.execute(
            "SELECT json_extract(body_json, '$.content') FROM events"
            " WHERE event_type = 'message.created' ORDER BY seq"
        )
        return [content for (content,) in rows]


@pytest.mark.parametrize("part", [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0])
async def test_a_wal_that_was_cut_off_keeps_every_whole_commit_before_the_cut(
    left: Path, part: float
) -> None:
    wal = left.with_name("groupx.db-wal")
    data = wal.read_bytes()
    wal.write_bytes(data[: int(len(data) * part)])
    found = await _contents(left)
    assert found == [f"number {number}" for number in range(len(found))]
    assert len(found) >= int(MESSAGES * part) - 2
    assert part < 1.0 or len(found) == MESSAGES


@pytest.mark.parametrize("part", [0.05, 0.3, 0.6, 0.95])
async def test_a_byte_that_changed_in_the_wal_ends_it_before_that_commit(
    left: Path, part: float
) -> None:
    wal = left.with_name("groupx.db-wal")
    data = bytearray(wal.read_bytes())
    data[int(len(data) * part)] ^= 0xFF
    wal.write_bytes(data)
    found = await _contents(left)
    assert found == [f"number {number}" for number in range(len(found))]
    assert len(found) < MESSAGES
