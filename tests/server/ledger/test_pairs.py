"""Observers are set on a message's turns in the message's own transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.supervision import DEFAULT_BRIEF
from groupx_server.ledger.accept import Accepted, AcceptMessage, accept_message
from groupx_server.ledger.pairs import Subject, Watch, is_watched, pair_of
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import SupervisionInfo
from support.transactions import LIMITS, NOW, bodies, event_types, open_book, turn_row

EYE = Target("agent:eye", "acp")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path, ("a", "b", "eye"))
    yield connection
    connection.close()


def watched(
    book: sqlite3.Connection,
    *observers: Target,
    brief: str = "",
    limits: Limits = LIMITS,
    command_id: str = "1",
) -> Accepted:
    command = AcceptMessage(
        client_command_id=command_id,
        room_id="room:main",
        content="Tidy up.",
        targets=[Target("agent:a", "acp"), Target("agent:b", "acp")],
        watch=Watch(observers or [EYE], brief),
    )
    return accept_message(book, command, limits, NOW)


def paired(accepted: Accepted) -> SupervisionInfo:
    assert accepted.reply.supervision is not None
    return accepted.reply.supervision


def test_message_turns_brief_and_pair_are_one(book: sqlite3.Connection) -> None:
    accepted = watched(book, brief="Watch the clock.")
    assert event_types(book) == [
        "message.created",
        "turn.queued",
        "turn.queued",
        "message.created",
        "turn.queued",
        "supervision.paired",
    ]
    pair = paired(accepted)
    (observer,) = pair.observers
    row = turn_row(book, observer.turn_id)
    assert (row["source_event_id"], row["asked"], row["hop_count"]) == (pair.watch_event_id, 0, 0)
    assert row["root_correlation_id"] == accepted.reply.correlation_id
    (body,) = bodies(book, "supervision.paired")
    workers = [(turn.target, turn.turn_id) for turn in accepted.reply.turns]
    assert [(t["actorId"], t["turnId"]) for t in body["workers"]] == workers
    assert body["observers"] == [{"actorId": "agent:eye", "turnId": observer.turn_id}]
    brief = bodies(book, "message.created")[1]
    assert brief == {"content": "Watch the clock.", "kind": "supervision.watch"}
    assert find_violations(book) == []


def test_the_brief_is_said_by_whoever_orders_the_watch(book: sqlite3.Connection) -> None:
    pair = paired(watched(book))
    row = book.execute(
        "SELECT actor_id, reply_to_event_id, body_json FROM events WHERE event_id = ?",
        (pair.watch_event_id,),
    ).fetchone()
    assert row[0] == "user:web"
    assert DEFAULT_BRIEF in row[2]


def test_an_observers_turn_knows_what_it_watches_and_a_workers_does_not(
    book: sqlite3.Connection,
) -> None:
    accepted = watched(book)
    first, second = accepted.reply.turns
    (observer,) = paired(accepted).observers
    pair = pair_of(book, observer.turn_id)
    assert pair is not None
    assert pair.task_event_id == accepted.reply.message_event_id
    assert pair.subjects == [
        Subject(first.turn_id, "agent:a"),
        Subject(second.turn_id, "agent:b"),
    ]
    assert pair_of(book, first.turn_id) is None
    assert is_watched(book, first.turn_id)
    assert not is_watched(book, observer.turn_id)


def test_the_same_command_gives_the_first_pair_again(book: sqlite3.Connection) -> None:
    first, again = watched(book), watched(book)
    assert again.replayed
    assert again.reply == first.reply
    assert event_types(book).count("supervision.paired") == 1


def test_other_observers_are_another_command(book: sqlite3.Connection) -> None:
    watched(book)
    with pytest.raises(RefusedError) as refused:
        watched(book, brief="else")
    assert refused.value.code is ErrorCode.CLIENT_COMMAND_CONFLICT


def test_an_observer_that_would_watch_itself_leaves_nothing(book: sqlite3.Connection) -> None:
    with pytest.raises(RefusedError) as refused:
        watched(book, Target("agent:b", "acp"))
    assert refused.value.code is ErrorCode.SUPERVISION_PAIR_INVALID
    assert event_types(book) == []


def test_observers_count_for_the_limits_before_anything_is_written(
    book: sqlite3.Connection,
) -> None:
    with pytest.raises(RefusedError) as refused:
        watched(book, limits=Limits(root_turns=2))
    assert refused.value.code is ErrorCode.ROOT_TURN_LIMIT_REACHED
    assert event_types(book) == []


def test_a_brief_is_no_talk_of_the_room(book: sqlite3.Connection) -> None:
    watched(book)
    assert book.execute("SELECT count(*) FROM room_messages").fetchone() == (1,)
