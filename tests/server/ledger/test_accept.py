"""Accepting a message: all or nothing, once, within the limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import AcceptMessage, accept_message
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.rooms import change_room, create_room
from groupx_shared.errors import ErrorCode, RefusedError
from support.transactions import LIMITS, NOW, event_types, open_book, send, start


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def test_a_message_with_two_targets_writes_the_message_and_two_queued_turns(
    book: sqlite3.Connection,
) -> None:
    accepted = send(book, to=("a", "b"))
    assert event_types(book) == ["message.created", "turn.queued", "turn.queued"]
    assert [turn.target for turn in accepted.reply.turns] == ["agent:a", "agent:b"]
    assert book.execute("SELECT count(*) FROM turns WHERE status = 'queued'").fetchone() == (2,)


def test_a_message_without_targets_wakes_nobody(book: sqlite3.Connection) -> None:
    assert send(book, to=()).reply.turns == ()
    assert event_types(book) == ["message.created"]


def test_the_same_command_twice_is_done_once_and_answers_the_same(
    book: sqlite3.Connection,
) -> None:
    first = send(book, command_id="x")
    again = send(book, command_id="x")
    assert again.replayed
    assert again.reply == first.reply
    assert event_types(book) == ["message.created", "turn.queued"]


@pytest.mark.parametrize(("content", "to"), [("other", ("a",)), ("hello", ("b",))])
def test_the_same_id_for_another_message_is_a_conflict(
    book: sqlite3.Connection, content: str, to: tuple[str, ...]
) -> None:
    send(book, command_id="x")
    with pytest.raises(RefusedError) as refused:
        send(book, content=content, to=to, command_id="x")
    assert refused.value.code is ErrorCode.CLIENT_COMMAND_CONFLICT


def test_the_queue_position_counts_open_turns_of_the_same_agent(
    book: sqlite3.Connection,
) -> None:
    start(book, send(book).reply.turns[0].turn_id)
    assert send(book).reply.turns[0].queue_position == 1
    assert send(book).reply.turns[0].queue_position == 2
    assert send(book, to=("b",)).reply.turns[0].queue_position == 0


def test_a_full_queue_is_refused_and_nothing_is_written(book: sqlite3.Connection) -> None:
    command = AcceptMessage("y", "room:main", "hi", [Target("agent:a", "acp")])
    tight = Limits(queue_per_agent=1)
    accept_message(book, command, tight, NOW)
    before = event_types(book)
    with pytest.raises(RefusedError) as refused:
        accept_message(
            book, AcceptMessage("z", "room:main", "hi", [Target("agent:a", "acp")]), tight, NOW
        )
    assert refused.value.code is ErrorCode.QUEUE_CAPACITY_REACHED
    assert event_types(book) == before


@pytest.mark.parametrize(
    ("limits", "hop", "code"),
    [
        (Limits(hop_count=2), 3, ErrorCode.HOP_LIMIT_REACHED),
        (Limits(root_turns=1), 1, ErrorCode.ROOT_TURN_LIMIT_REACHED),
        (Limits(actor_calls_per_root=1), 1, ErrorCode.ROOT_TURN_LIMIT_REACHED),
    ],
)
def test_limits_of_a_root_are_enforced(
    book: sqlite3.Connection, limits: Limits, hop: int, code: ErrorCode
) -> None:
    root = send(book).reply.correlation_id
    command = AcceptMessage(
        "child",
        "room:main",
        "again",
        [Target("agent:a", "acp")],
        hop_count=hop,
        correlation_id=root,
    )
    with pytest.raises(RefusedError) as refused:
        accept_message(book, command, limits, NOW)
    assert refused.value.code is code


def test_a_reply_to_an_unknown_event_or_one_of_another_room_is_refused(
    book: sqlite3.Connection,
) -> None:
    create_room(book, "room:side", "side", NOW)
    elsewhere = send(book, to=(), room_id="room:side").reply.message_event_id
    for event_id in ("evt_none", elsewhere):
        with pytest.raises(RefusedError) as refused:
            send(book, reply_to_event_id=event_id)
        assert refused.value.code is ErrorCode.UNKNOWN_EVENT


def test_an_unknown_room_is_named_with_the_nearest(book: sqlite3.Connection) -> None:
    with pytest.raises(RefusedError, match="Did you mean “main”") as refused:
        send(book, room_id="room:mian")
    assert refused.value.code is ErrorCode.UNKNOWN_ROOM


def test_an_archived_room_takes_no_message(book: sqlite3.Connection) -> None:
    create_room(book, "room:old", "old", NOW)
    change_room(book, "room:old", None, True, NOW)
    with pytest.raises(RefusedError) as refused:
        send(book, room_id="room:old")
    assert refused.value.code is ErrorCode.ROOM_ARCHIVED


def test_a_room_counts_its_events_and_messages(book: sqlite3.Connection) -> None:
    send(book, content="12345")
    send(book, content="123", to=())
    row = book.execute(
        "SELECT event_count, message_count, message_chars, last_seq FROM rooms"
        " WHERE room_id = 'room:main'"
    ).fetchone()
    (newest,) = book.execute("SELECT max(seq) FROM events").fetchone()
    assert row == (3, 2, 8, newest)
    assert LIMITS.queue_per_agent == 64
