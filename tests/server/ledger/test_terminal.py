"""The end of a turn: in order, once, with its texts bounded and the whole kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TransitionError, TurnStatus
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.dispatch import append_partial, delivered_seq, mark_prompt_invoked
from groupx_server.ledger.overview import whole_text
from groupx_server.ledger.terminal import ToolEnd, TurnEnd, end_turn
from support.transactions import NOW, bodies, claim, event_types, open_book, send, start, turn_row

LIMITS = Limits(answer_characters=1024)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _running(book: sqlite3.Connection) -> str:
    turn_id = send(book).reply.turns[0].turn_id
    start(book, turn_id)
    return turn_id


def test_the_terminal_writes_reasoning_tools_answer_and_end_in_this_order(
    book: sqlite3.Connection,
) -> None:
    turn_id = _running(book)
    end = TurnEnd(
        turn_id,
        TurnStatus.COMPLETED,
        answer="done",
        reasoning="hm",
        tools=[ToolEnd("t1", NOW, {"title": "ls"})],
    )
    end_turn(book, end, LIMITS, NOW)
    assert event_types(book)[-4:] == [
        "turn.reasoning.recorded",
        "tool.progress.recorded",
        "message.created",
        "turn.completed",
    ]
    body = bodies(book, "turn.completed")[0]
    assert body["responseEventId"] == turn_row(book, turn_id)["response_event_id"]
    assert len(body["toolProgressEventIds"]) == 1


@pytest.mark.parametrize("status", [TurnStatus.COMPLETED, TurnStatus.CANCELLED])
def test_a_plan_is_kept_with_the_end_however_that_is(
    book: sqlite3.Connection, status: TurnStatus
) -> None:
    plan = [{"content": "Read", "priority": "high", "status": "completed"}]
    end_turn(book, TurnEnd(_running(book), status, plan=plan), LIMITS, NOW)
    assert bodies(book, f"turn.{status.value}")[0]["plan"] == plan


def test_a_turn_without_a_plan_says_nothing_of_one(book: sqlite3.Connection) -> None:
    end_turn(book, TurnEnd(_running(book), TurnStatus.COMPLETED), LIMITS, NOW)
    assert "plan" not in bodies(book, "turn.completed")[0]


def test_a_second_end_changes_nothing_and_returns_the_first(book: sqlite3.Connection) -> None:
    turn_id = _running(book)
    first = end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="done"), LIMITS, NOW)
    count = len(event_types(book))
    again = end_turn(book, TurnEnd(turn_id, TurnStatus.FAILED), LIMITS, NOW)
    assert (again.is_new, again.status) == (False, TurnStatus.COMPLETED)
    assert again.terminal_event_id == first.terminal_event_id
    assert len(event_types(book)) == count


def test_the_ledger_itself_refuses_a_second_terminal_event(book: sqlite3.Connection) -> None:
    turn_id = _running(book)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="done"), LIMITS, NOW)
    book.execute(
        "UPDATE turns SET status = 'running', terminal_event_id = NULL WHERE turn_id = ?",
        (turn_id,),
    )
    with pytest.raises(sqlite3.IntegrityError):
        end_turn(book, TurnEnd(turn_id, TurnStatus.INTERRUPTED), LIMITS, NOW)


def test_a_turn_whose_delivery_is_uncertain_cannot_complete(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    attempt = claim(book, turn_id)
    assert attempt is not None
    mark_prompt_invoked(book, attempt, NOW)
    with pytest.raises(TransitionError):
        end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="x"), LIMITS, NOW)


def test_a_long_answer_is_cut_visibly_and_kept_whole_beside_the_event(
    book: sqlite3.Connection,
) -> None:
    turn_id = _running(book)
    answer = "你好" * 50_000
    ended = end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer=answer), LIMITS, NOW)
    body = bodies(book, "message.created")[-1]
    assert body["cut"]
    assert len(body["content"]) <= LIMITS.answer_characters
    assert "cut" in body["content"][-60:]
    assert ended.response_event_id is not None
    assert whole_text(book, ended.response_event_id).text == answer


@pytest.mark.parametrize("status", [TurnStatus.FAILED, TurnStatus.INTERRUPTED])
def test_partial_text_is_kept_in_the_row_and_in_the_event(
    book: sqlite3.Connection, status: TurnStatus
) -> None:
    turn_id = _running(book)
    append_partial(book, turn_id, 1, "so ")
    end_turn(book, TurnEnd(turn_id, status, answer="so far"), LIMITS, NOW)
    assert turn_row(book, turn_id)["partial_text"] == "so far"
    body = bodies(book, f"turn.{status.value}")[0]
    assert body["partialText"] == "so far"
    assert body["deliveryCertainty"] == "delivered"
    assert book.execute("SELECT count(*) FROM turn_partials").fetchone() == (0,)


def test_the_delivery_cursor_moves_only_with_proof_of_delivery(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    attempt = claim(book, turn_id)
    assert attempt is not None
    mark_prompt_invoked(book, attempt, NOW)
    end_turn(book, TurnEnd(turn_id, TurnStatus.FAILED, error_code="X"), LIMITS, NOW)
    assert delivered_seq(book, "agent:a", "room:main") == 0
    running = _running(book)
    assert delivered_seq(book, "agent:a", "room:main") > 0
    end_turn(book, TurnEnd(running, TurnStatus.CANCELLED), LIMITS, NOW)


def test_cancelling_a_queued_turn_ends_it_at_once(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    cancelled = cancel_turn(book, turn_id, "k", LIMITS, NOW)
    assert (cancelled.reply.status, cancelled.tell_agent) == ("cancelled", False)
    assert event_types(book)[-1] == "turn.cancelled"
    assert claim(book, turn_id) is None


def test_cancelling_a_running_turn_marks_it_and_tells_the_agent(
    book: sqlite3.Connection,
) -> None:
    turn_id = _running(book)
    cancelled = cancel_turn(book, turn_id, "k", LIMITS, NOW)
    assert (cancelled.reply.status, cancelled.tell_agent) == ("cancelling", True)
    assert cancel_turn(book, turn_id, "k", LIMITS, NOW).reply == cancelled.reply


def test_a_cancel_before_the_prompt_left_keeps_it_from_leaving(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    attempt = claim(book, turn_id)
    assert attempt is not None
    cancel_turn(book, turn_id, "k", LIMITS, NOW)
    assert not mark_prompt_invoked(book, attempt, NOW)


def test_cancelling_an_ended_turn_is_not_accepted(book: sqlite3.Connection) -> None:
    turn_id = _running(book)
    end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="x"), LIMITS, NOW)
    reply = cancel_turn(book, turn_id, "k", LIMITS, NOW).reply
    assert (reply.accepted, reply.status) == (False, "completed")


def test_one_agent_works_on_one_turn_at_a_time(book: sqlite3.Connection) -> None:
    _running(book)
    waiting = send(book).reply.turns[0].turn_id
    with pytest.raises(TransitionError, match="one turn at a time"):
        claim(book, waiting)
