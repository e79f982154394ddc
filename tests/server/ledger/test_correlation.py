"""Reading one root: its events from a cursor, its turns, and nothing of another room."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.ledger.correlation import (
    children_of,
    events_of,
    read_told,
    require_correlation,
    turns_of,
)
from groupx_server.ledger.rooms import create_room
from groupx_shared.errors import ErrorCode, RefusedError
from support.transactions import NOW, finish, open_book, placed, send, start

TYPES = ["message.created", "turn.queued", "turn.completed"]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def test_events_come_in_order_from_the_cursor_and_only_of_the_root(
    book: sqlite3.Connection,
) -> None:
    root = send(book, "root").reply
    send(book, "other root")
    start(book, root.turns[0].turn_id)
    call = placed(book, "ask").reply
    events = events_of(book, root.correlation_id, 0, 100, TYPES)
    assert [event.type for event in events] == [
        "message.created",
        "turn.queued",
        "message.created",
        "turn.queued",
    ]
    assert [event.body.get("content") for event in events[::2]] == ["root", "please"]
    assert (events[2].actor_id, events[2].actor_kind) == ("agent:a", "agent")
    assert events[2].to == ("agent:b",)
    assert events[2].reply_to_event_id == root.message_event_id
    page = events_of(book, root.correlation_id, 0, 2, TYPES)
    rest = events_of(book, root.correlation_id, page[-1].seq, 100, TYPES)
    assert [*page, *rest] == events
    assert call.correlation_id == root.correlation_id


def test_turns_and_their_calls_are_listed(book: sqlite3.Connection) -> None:
    root = send(book).reply
    parent = root.turns[0].turn_id
    start(book, parent)
    child = placed(book, "ask").reply.turns[0].turn_id
    start(book, child, "b")
    finish(book, child)
    turns = turns_of(book, root.correlation_id)
    assert [(turn.turn_id, turn.status) for turn in turns] == [
        (parent, "running"),
        (child, "completed"),
    ]
    (called,) = children_of(book, parent)
    assert (called.turn_id, called.parent_turn_id) == (child, parent)
    assert called.response_event_id is not None


def test_what_is_in_another_room_is_not_there(book: sqlite3.Connection) -> None:
    create_room(book, "room:side", "side", NOW)
    there = send(book, to=(), room_id="room:side").reply
    require_correlation(book, there.correlation_id, "room:side")
    for correlation_id in (there.correlation_id, "corr_none"):
        with pytest.raises(RefusedError) as refused:
            require_correlation(book, correlation_id, "room:main")
        assert refused.value.code is ErrorCode.UNKNOWN_EVENT
    with pytest.raises(RefusedError):
        read_told(book, there.message_event_id, "room:main")
    assert read_told(book, there.message_event_id, "room:side").body["content"] == "hello"


def test_a_body_that_is_no_json_is_told_empty(book: sqlite3.Connection) -> None:
    event_id = send(book, to=()).reply.message_event_id
    for broken in ("not json", "[1]"):
        book.execute("UPDATE events SET body_json = ? WHERE event_id = ?", (broken, event_id))
        assert read_told(book, event_id, "room:main").body == {}
