"""One row that is no JSON makes nothing else unreadable."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from groupx_server.context.gather import PacketRequest, gather_packet
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.events import page, read_event, rows_after
from groupx_server.ledger.overview import read_overview, whole_text
from groupx_server.ledger.stored import DAMAGED, read_body, splice_body, splice_list
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import read_turn
from support.transactions import LIMITS, NOW, open_book, send, start


@pytest.mark.parametrize("text", ["", "{", "not json", "[1, 2]", '"text"', "{}x", "\x00"])
def test_what_is_no_object_is_read_as_a_damaged_body(text: str) -> None:
    assert read_body(text) == DAMAGED


@pytest.mark.parametrize("text", ["", "{", "not json", "{}x"])
def test_what_is_no_json_is_spliced_as_something_that_is(text: str) -> None:
    assert orjson.loads(orjson.dumps(splice_body(text))) == DAMAGED
    assert orjson.loads(orjson.dumps(splice_list(text))) == []


def test_what_is_json_is_spliced_to_the_letter() -> None:
    assert orjson.dumps({"a": splice_body('{"b": 1}')}) == b'{"a":{"b": 1}}'


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """An answered message, each of whose texts is damaged, and a sound one behind it."""
    book = open_book(tmp_path)
    turn_id = send(book, "question").reply.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="answer"), LIMITS, NOW)
    book.execute("UPDATE events SET body_json = '{', targets_json = '[', provenance_json = '{'")
    send(book, "sound")
    yield book
    book.close()


def test_pages_tails_and_single_events_stay_readable(book: sqlite3.Connection) -> None:
    pages = [orjson.loads(event) for event in page(book, "room:main").events]
    tail = [orjson.loads(row.data) for row in rows_after(book, 0, 100)]
    recent = [orjson.loads(e) for e in read_overview(book, "room:main", 100).recent.events]
    assert pages == tail == recent
    assert pages[0]["body"] == DAMAGED
    assert pages[-2]["body"] == {"content": "sound"}
    assert orjson.loads(read_event(book, pages[0]["eventId"])) == pages[0]
    assert whole_text(book, pages[0]["eventId"]).text == DAMAGED["content"]


def test_turns_and_packets_stay_readable(book: sqlite3.Connection) -> None:
    (turn_id,) = book.execute("SELECT turn_id FROM turns WHERE status = 'completed'").fetchone()
    assert read_turn(book, turn_id).content == DAMAGED["content"]
    (source,) = book.execute("SELECT source_event_id FROM turns WHERE status = 'queued'").fetchone()
    request = PacketRequest("room:main", source, "agent:a", "A", None, True, 100_000)
    assert "sound" in gather_packet(book, request).text
