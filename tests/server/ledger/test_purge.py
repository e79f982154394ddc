"""The last bytes: the index's segments, the gaps of pages, the journal, files of earlier times."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groupx_server.ledger.connection import open_reader, open_writer
from groupx_server.ledger.migrate import prepare
from groupx_server.ledger.purge import clean, is_overwritten, merge_some, rewrite
from groupx_server.ledger.rawfile import RawFile
from groupx_server.ledger.searchindex import index_some, withdraw_messages
from groupx_server.ledger.times import utc_now
from groupx_shared.errors import LedgerBusyError
from support.secrets_planted import NOW, Planter

PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with some messages, closed."""
    path = tmp_path / "groupx.db"
    prepare(path, now=utc_now)
    with closing(open_writer(path)) as book:
        planter = Planter(book, 1)
        for number in range(40):
            planter.say(f"message {number} " + "y" * 150)
    return path


@pytest.fixture
def book(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_writer(path)) as connection:
        yield connection


def _soil(path: Path) -> bytes:
    """Put a word into the gap of every page that has one, as a moved row would be left there."""
    data = bytearray(path.read_bytes())
    for page in range(PAGE, len(data), PAGE):
        kind, count = data[page], int.from_bytes(data[page + 3 : page + 5], "big")
        begin = page + (12 if kind in (2, 5) else 8) + 2 * count
        end = page + int.from_bytes(data[page + 5 : page + 7], "big")
        if kind in (2, 5, 10, 13) and end - begin > 40:
            data[begin + 20 : begin + 34] = b"quetzalcoatlus"
    path.write_bytes(data)
    return bytes(data)


def test_what_a_moved_row_left_in_a_gap_is_wiped_and_does_not_come_back(path: Path) -> None:
    assert b"quetzalcoatlus" in _soil(path)
    file = RawFile(path)
    with closing(open_writer(path)) as book:
        book.execute("SELECT count(body_json) FROM events").fetchall()  # its pages are cached
        before = book.execute("SELECT * FROM events").fetchall()
        assert clean(book, file) > 0
        assert b"quetzalcoatlus" not in path.read_bytes()
        assert book.execute("SELECT * FROM events").fetchall() == before
        book.execute('UPDATE events SET body_json = \'{"content":"short"}\'')
        book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert b"quetzalcoatlus" not in path.read_bytes()
        assert book.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    file.close()


def test_a_reader_that_holds_on_to_the_journal_is_told_of(
    path: Path, book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupx_server.ledger.purge.CHECKPOINT_TRIES", 1)
    book.execute("PRAGMA busy_timeout=1")
    with closing(open_reader(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchone()
        Planter(book, 2).say("later")
        with pytest.raises(LedgerBusyError, match="a long read"):
            clean(book, RawFile(path))
    assert clean(book, RawFile(path)) >= 0


def test_the_bytes_are_read_without_freeing_sqlites_locks(
    path: Path, book: sqlite3.Connection
) -> None:
    """Closing any descriptor of the file would let another program delete the journal."""
    Planter(book, 3).say("in the journal")
    file = RawFile(path)
    assert sum(len(piece) for _, piece in file.pieces()) == path.stat().st_size
    locks = Path("/proc/locks")
    if not locks.exists():
        pytest.skip("this system does not tell its locks")
    assert f":{path.stat().st_ino} " in locks.read_text("utf-8")


def test_a_message_taken_out_of_the_index_leaves_its_segments_when_they_are_merged(
    path: Path, book: sqlite3.Connection
) -> None:
    planter = Planter(book, 4)
    said = planter.say("the quetzalcoatlus key")
    for _ in range(30):
        planter.say(" ".join(planter.word() for _ in range(20)))
        index_some(book)
    withdraw_messages(book, [said])
    book.execute("UPDATE events SET body_json = '{}' WHERE event_id = ?", (said,))
    index_some(book)
    book.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert b"etzalcoatlu" in path.read_bytes()
    steps = 0
    while not merge_some(book, is_first=steps == 0):
        steps += 1
    clean(book, RawFile(path))
    assert b"etzalcoatlu" not in path.read_bytes()


def test_a_file_of_earlier_times_is_written_anew_once(tmp_path: Path, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as before:
        before.execute("PRAGMA secure_delete=OFF")
        before.execute("DELETE FROM ledger_meta WHERE key = 'overwritten'")
        before.execute("CREATE TABLE old(text)")
        before.execute("INSERT INTO old VALUES (?)", ("the quetzalcoatlus key " * 400,))
        before.execute("DROP TABLE old")
    assert b"quetzalcoatlus" in path.read_bytes()
    with closing(open_writer(path)) as book:
        assert not is_overwritten(book)
        rewrite(book, NOW)
        clean(book, RawFile(path))
        assert is_overwritten(book)
    assert b"quetzalcoatlus" not in path.read_bytes()
