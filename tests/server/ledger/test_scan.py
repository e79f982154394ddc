"""Looking for words in the newest messages: what is found, and how far it truly looked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.ledger import scan
from groupx_server.ledger.rooms import create_room
from groupx_server.ledger.scan import scan_messages
from support.transactions import NOW, open_book, send


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def say(book: sqlite3.Connection, *texts: str) -> list[int]:
    return [send(book, text, to=()).reply.seq for text in texts]


def test_all_words_must_be_there_and_case_does_not_count(book: sqlite3.Connection) -> None:
    say(book, "The LOGIN page is red", "the login works", "Straße und Login red", "登录页面坏了")
    found = scan_messages(book, "room:main", ["login", "RED"], None, 10).found
    assert [m.content for m in found] == ["Straße und Login red", "The LOGIN page is red"]
    assert len(scan_messages(book, "room:main", ["STRASSE"], None, 10).found) == 1
    assert len(scan_messages(book, "room:main", ["登录"], None, 10).found) == 1


def test_other_rooms_are_not_looked_at(book: sqlite3.Connection) -> None:
    create_room(book, "room:side", "side", NOW)
    send(book, "secret", to=(), room_id="room:side")
    assert scan_messages(book, "room:main", ["secret"], None, 10).messages == 0


def test_a_bound_is_told_and_one_goes_on_behind_it(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seqs = say(book, *(f"word {number}" for number in range(7)))
    monkeypatch.setattr(scan, "MAX_MESSAGES", 3)
    first = scan_messages(book, "room:main", ["word"], None, 10)
    assert (first.messages, first.oldest_seq, first.has_more) == (3, seqs[4], True)
    second = scan_messages(book, "room:main", ["word"], first.oldest_seq, 10)
    assert [m.content for m in second.found] == ["word 3", "word 2", "word 1"]
    last = scan_messages(book, "room:main", ["word"], second.oldest_seq, 10)
    assert (last.messages, last.has_more) == (1, False)


def test_enough_hits_end_the_search_where_it_stands(book: sqlite3.Connection) -> None:
    seqs = say(book, "hit 1", "no", "hit 2", "hit 3")
    found = scan_messages(book, "room:main", ["hit"], None, 2)
    assert [m.content for m in found.found] == ["hit 3", "hit 2"]
    assert (found.oldest_seq, found.has_more) == (seqs[2], True)
    assert not scan_messages(book, "room:main", ["hit"], None, 4).has_more


def test_long_messages_end_it_early(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(book, "x" * 50, "y" * 50, "z" * 50)
    monkeypatch.setattr(scan, "MAX_CHARS", 60)
    assert scan_messages(book, "room:main", ["x"], None, 10).messages == 2


def test_an_old_row_that_is_no_json_is_passed_over(book: sqlite3.Connection) -> None:
    say(book, "fine", "broken")
    book.execute("UPDATE events SET body_json = 'not json' WHERE body_json LIKE '%broken%'")
    result = scan_messages(book, "room:main", ["fine"], None, 10)
    assert (len(result.found), result.messages) == (1, 2)
