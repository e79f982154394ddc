"""What goes into a packet is read from the ledger in one snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.context.gather import PacketRequest, context_usage, gather_packet
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.terminal import TurnEnd, end_turn
from support.transactions import LIMITS, NOW, open_book, send, start


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _packet(book: sqlite3.Connection, event_id: str, *, fresh: bool = False) -> str:
    request = PacketRequest("room:main", event_id, "agent:a", "A", None, fresh, 256_000)
    return gather_packet(book, request).text


def test_a_delivered_message_is_not_told_again(book: sqlite3.Connection) -> None:
    send(book, "old news", to=())
    turn_id = send(book, "first").reply.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="my answer"), LIMITS, NOW)
    send(book, "fresh news", to=())
    text = _packet(book, send(book, "second").reply.message_event_id)
    assert "fresh news" in text
    assert "old news" not in text
    assert "my answer" not in text


def test_a_fresh_session_is_told_everything_again(book: sqlite3.Connection) -> None:
    turn_id = send(book, "first").reply.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="my answer"), LIMITS, NOW)
    text = _packet(book, send(book, "second").reply.message_event_id, fresh=True)
    assert "first" in text
    assert "my answer" in text


def test_a_reply_carries_the_chain_it_answers_from_the_root_on(book: sqlite3.Connection) -> None:
    root = send(book, "root", to=()).reply.message_event_id
    middle = send(book, "middle", to=(), reply_to_event_id=root).reply.message_event_id
    leaf = send(book, "leaf", reply_to_event_id=middle).reply.message_event_id
    text = _packet(book, leaf)
    chain = text[text.index("[reply_chain") : text.index("[current_message")]
    assert chain.index("root") < chain.index("middle")
    assert text.count("\nmiddle\n") == 1


def test_a_ring_of_replies_ends(book: sqlite3.Connection) -> None:
    one = send(book, "one", to=()).reply.message_event_id
    two = send(book, "two", reply_to_event_id=one).reply.message_event_id
    book.execute("UPDATE events SET reply_to_event_id = ? WHERE event_id = ?", (two, one))
    assert _packet(book, two).count("\none\n") == 1


def test_usage_grows_with_what_was_said(book: sqlite3.Connection) -> None:
    empty = context_usage(book, "room:main", 1_000)
    send(book, "x" * 500, to=())
    used = context_usage(book, "room:main", 1_000)
    assert (empty.utilization_percent, empty.uncompacted_message_count) == (0.0, 0)
    assert used.estimated_characters > 500
    assert used.uncompacted_message_count == 1
