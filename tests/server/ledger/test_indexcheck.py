"""A search index that is not what it should be is found out, and a sound one is not accused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.ledger import indexcheck
from groupx_server.ledger.indexcheck import rows_without_words, unsound_index
from groupx_server.ledger.memory import NewMemory, remember
from groupx_server.ledger.records import Author
from groupx_server.ledger.searchindex import index_some
from groupx_server.ledger.verify import find_violations
from groupx_shared.wire.memory import MemoryScope
from support.transactions import NOW, open_book, send

YOU = Author("user:web", "web")
ROOM = MemoryScope(type="room", id="room:main")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    for number in range(12):
        send(connection, f"message number {number} of the plan 密码是小熊猫 …", to=())
        remember(connection, NewMemory(ROOM, "fact", f"Fact {number}: it's “so” (50%)", YOU), NOW)
    send(connection, "?!", to=())
    while not index_some(connection).is_empty:
        pass
    yield connection
    connection.close()


def _faults(book: sqlite3.Connection) -> list[str]:
    return [violation.rule for violation in find_violations(book, is_deep=True)]


def test_a_sound_index_is_not_accused(book: sqlite3.Connection) -> None:
    assert unsound_index(book) is None
    assert rows_without_words(book, is_deep=True, most=5) == []
    assert _faults(book) == []


def test_the_check_leaves_the_ledger_as_it_is(book: sqlite3.Connection) -> None:
    before = book.total_changes
    book.execute("PRAGMA query_only=1")
    assert _faults(book) == []
    assert book.total_changes == before


def test_a_segment_that_lost_a_page_is_found(book: sqlite3.Connection) -> None:
    book.execute("DELETE FROM search_fts_data WHERE id = (SELECT MAX(id) FROM search_fts_data)")
    assert indexcheck.SOUND in _faults(book)


@pytest.mark.parametrize("text", ["other words than those", "message number 3 of the plan"])
def test_a_row_with_other_words_than_its_text_is_named(book: sqlite3.Connection, text: str) -> None:
    body = '{"content":"' + text + '"}'
    (event_id,) = book.execute(
        "SELECT event_id FROM events WHERE event_type = 'message.created' ORDER BY seq LIMIT 1"
    ).fetchone()
    book.execute("UPDATE events SET body_json = ? WHERE event_id = ?", (body, event_id))
    assert event_id in rows_without_words(book, is_deep=True, most=5)
    assert indexcheck.WORDS in _faults(book)


def test_an_index_of_other_rules_is_built_anew_and_not_accused(book: sqlite3.Connection) -> None:
    book.execute('UPDATE events SET body_json = \'{"content":"none"}\'')
    outdated = (
        "UPDATE ledger_meta SET value = '{\"version\":0,\"seq\":9}' WHERE key = 'search_index'"
    )
    book.execute(outdated)
    assert _faults(book) == []


def test_a_row_of_nothing_is_named(book: sqlite3.Connection) -> None:
    book.execute(
        "UPDATE search_rows SET ref_id = 'mem_none' WHERE ref_id LIKE 'mem_%'"
        " AND row_id = (SELECT MAX(row_id) FROM search_rows WHERE kind = 'memory')"
    )
    assert rows_without_words(book, is_deep=True, most=5) == ["mem_none"]


def test_without_depth_rows_from_everywhere_are_looked_at(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexcheck, "SAMPLE", 5)
    book.execute('UPDATE events SET body_json = \'{"content":"none"}\'')
    assert 2 <= len(rows_without_words(book, is_deep=False, most=50)) <= 6
