"""What became of a call: found by its message, the same before and after anything else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.callers import require_turn
from groupx_server.ledger.outcomes import (
    are_all_ended,
    correlation_of_call,
    is_working,
    read_outcomes,
)
from groupx_server.ledger.rooms import create_room
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_shared.errors import ErrorCode, RefusedError
from support.transactions import LIMITS, NOW, caller, finish, open_book, placed, send, start


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path, ("a", "b", "c"))
    start(connection, send(connection, "root").reply.turns[0].turn_id)
    yield connection
    connection.close()


def test_each_turn_is_told_in_the_order_of_the_targets(book: sqlite3.Connection) -> None:
    busy = send(book, to=("c",)).reply.turns[0].turn_id
    start(book, busy, "c")
    call = placed(book, "ask", to=("c", "b")).reply
    start(book, call.turns[1].turn_id, "b")
    finish(book, call.turns[1].turn_id, "because")
    waiting, done = read_outcomes(book, call.message_event_id)
    assert (waiting.actor_id, waiting.status, waiting.answer) == ("agent:c", "queued", None)
    assert (waiting.queue_position, waiting.active_turn_id) == (1, busy)
    assert (done.status, done.queue_position, done.active_turn_id) == ("completed", 0, None)
    assert done.answer is not None
    assert (done.answer.content, done.actor_name) == ("because", "B")
    assert not are_all_ended(book, call.message_event_id)
    assert (waiting.has_ended, done.has_ended) == (False, True)


def test_a_turn_that_failed_or_was_interrupted_says_so(book: sqlite3.Connection) -> None:
    call = placed(book, "ask", to=("b", "c")).reply
    for turn, name, status in zip(
        call.turns, "bc", (TurnStatus.FAILED, TurnStatus.INTERRUPTED), strict=True
    ):
        start(book, turn.turn_id, name)
        end = TurnEnd(turn.turn_id, status, error_code="AGENT_ERROR", error_message="no credit")
        end_turn(book, end, LIMITS, NOW)
    failed, interrupted = read_outcomes(book, call.message_event_id)
    assert (failed.status, failed.error_code) == ("failed", "AGENT_ERROR")
    assert (interrupted.status, interrupted.error_message) == ("interrupted", "no credit")
    assert are_all_ended(book, call.message_event_id)


def test_a_message_without_turns_has_ended(book: sqlite3.Connection) -> None:
    published = placed(book, "publish", to=()).reply.message_event_id
    assert are_all_ended(book, published)
    assert read_outcomes(book, published) == []


def test_a_turn_is_working_until_it_ends(book: sqlite3.Connection) -> None:
    turn = require_turn(book, caller()).turn_id
    assert is_working(book, turn)
    finish(book, turn)
    assert not is_working(book, turn)
    assert not is_working(book, "turn_none")


def test_one_may_collect_what_one_sent_and_what_belongs_to_ones_root(
    book: sqlite3.Connection,
) -> None:
    call = placed(book, "ask").reply
    start(book, call.turns[0].turn_id, "b")
    for name in ("a", "b"):
        turn = require_turn(book, caller(name))
        found = correlation_of_call(book, caller(name), turn, call.message_event_id)
        assert found == call.correlation_id


def test_in_a_later_turn_ones_own_call_is_still_there_and_others_are_not(
    book: sqlite3.Connection,
) -> None:
    call = placed(book, "ask").reply
    finish(book, require_turn(book, caller()).turn_id)
    for name in ("a", "c"):
        start(book, send(book, "later", to=(name,)).reply.turns[0].turn_id, name)
    own = require_turn(book, caller())
    assert correlation_of_call(book, caller(), own, call.message_event_id) == call.correlation_id
    other = require_turn(book, caller("c"))
    with pytest.raises(RefusedError) as refused:
        correlation_of_call(book, caller("c"), other, call.message_event_id)
    assert refused.value.code is ErrorCode.UNKNOWN_TARGET


def test_a_message_of_another_room_cannot_be_collected(book: sqlite3.Connection) -> None:
    create_room(book, "room:side", "side", NOW)
    there = send(book, to=(), room_id="room:side").reply.message_event_id
    turn = require_turn(book, caller())
    for event_id in (there, "evt_none"):
        with pytest.raises(RefusedError) as refused:
            correlation_of_call(book, caller(), turn, event_id)
        assert refused.value.code is ErrorCode.UNKNOWN_TARGET
