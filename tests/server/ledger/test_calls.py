"""Calls of agents in the ledger: whose they are, what they belong to, what stops them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.bindings import end_instance
from groupx_server.ledger.calls import CallStopped
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.rooms import create_room
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import ErrorCode, RefusedError
from support.transactions import (
    LIMITS,
    NOW,
    bodies,
    call,
    event_types,
    finish,
    open_book,
    placed,
    send,
    start,
    turn_row,
)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Agents a, b and c; a works on a person's message."""
    connection = open_book(tmp_path, ("a", "b", "c"))
    start(connection, send(connection, "root").reply.turns[0].turn_id)
    yield connection
    connection.close()


def working(book: sqlite3.Connection, name: str = "a") -> str:
    """The running turn of an agent."""
    row = book.execute(
        "SELECT turn_id FROM turns WHERE target_actor_id = ? AND status = 'running'",
        (f"agent:{name}",),
    ).fetchone()
    return str(row[0])


def source_of(book: sqlite3.Connection, turn_id: str) -> sqlite3.Row:
    book.row_factory = sqlite3.Row
    row: sqlite3.Row = book.execute(
        "SELECT e.* FROM events e JOIN turns t ON t.source_event_id = e.event_id"
        " WHERE t.turn_id = ?",
        (turn_id,),
    ).fetchone()
    book.row_factory = None
    return row


def code_of(stopped: object) -> ErrorCode:
    assert isinstance(stopped, CallStopped)
    return stopped.error.code


def test_a_call_belongs_to_the_callers_turn_root_and_room(book: sqlite3.Connection) -> None:
    parent = working(book)
    reply = placed(book).reply
    child = turn_row(book, reply.turns[0].turn_id)
    above = turn_row(book, parent)
    assert child["parent_turn_id"] == parent
    assert child["root_correlation_id"] == above["root_correlation_id"] == reply.correlation_id
    assert (child["hop_count"], child["asked"], child["room_id"]) == (1, 0, "room:main")
    assert find_violations(book) == []


def test_the_author_is_the_agent_and_the_message_answers_what_it_works_on(
    book: sqlite3.Connection,
) -> None:
    above = turn_row(book, working(book))
    event = source_of(book, placed(book, "ask").reply.turns[0].turn_id)
    assert (event["actor_id"], event["instance_id"]) == ("agent:a", "instance_a")
    assert event["reply_to_event_id"] == above["source_event_id"]
    assert event["causation_id"] == above["turn_id"]
    assert event["provenance_json"] == '{"sourceKind":"mcp","authorActorId":"agent:a"}'


def test_a_reply_can_be_chosen_and_must_be_in_the_room(book: sqlite3.Connection) -> None:
    other = send(book, "elsewhere", to=()).reply.message_event_id
    reply = placed(book, reply_to_event_id=other).reply
    assert source_of(book, reply.turns[0].turn_id)["reply_to_event_id"] == other
    create_room(book, "room:side", "side", NOW)
    there = send(book, to=(), room_id="room:side").reply.message_event_id
    with pytest.raises(RefusedError) as refused:
        call(book, reply_to_event_id=there)
    assert refused.value.code is ErrorCode.UNKNOWN_EVENT


def test_publish_wakes_nobody_whatever_the_limits_are(book: sqlite3.Connection) -> None:
    before = book.execute("SELECT count(*) FROM turns").fetchone()
    tight = Limits(root_turns=1, hop_count=0, actor_calls_per_root=1)
    reply = placed(book, "publish", to=(), limits=tight).reply
    assert reply.turns == ()
    assert book.execute("SELECT count(*) FROM turns").fetchone() == before


def test_the_queued_event_says_who_called_and_whether_it_waits(book: sqlite3.Connection) -> None:
    parent = working(book)
    placed(book, "ask")
    placed(book, "send")
    first, asked, sent = bodies(book, "turn.queued")
    assert "parentTurnId" not in first
    assert (asked["parentTurnId"], asked["asked"]) == (parent, True)
    assert (sent["parentTurnId"], sent["asked"]) == (parent, False)


def test_only_an_ask_is_waited_for(book: sqlite3.Connection) -> None:
    asked = placed(book, "ask", to=("b", "c")).reply
    assert [turn_row(book, turn.turn_id)["asked"] for turn in asked.turns] == [1, 1]


def test_a_busy_target_says_how_many_are_before_and_what_it_works_on(
    book: sqlite3.Connection,
) -> None:
    first = send(book, to=("b",)).reply.turns[0].turn_id
    start(book, first, "b")
    (turn,) = placed(book, "ask").reply.turns
    assert (turn.queue_position, turn.active_turn_id) == (1, first)


# ── Whose turn it is ──────────────────────────────────────────────────────────────────────────


def refused_without_turn(book: sqlite3.Connection, by: str = "a") -> None:
    before = event_types(book)
    with pytest.raises(RefusedError) as refused:
        call(book, by=by, to=("c",))
    assert refused.value.code is ErrorCode.MCP_BINDING_MISMATCH
    assert event_types(book) == before


def test_an_agent_that_works_on_nothing_cannot_call(book: sqlite3.Connection) -> None:
    refused_without_turn(book, "b")


def test_a_turn_that_waits_in_the_queue_is_no_running_one(book: sqlite3.Connection) -> None:
    send(book, to=("b",))
    refused_without_turn(book, "b")


def test_after_the_end_of_its_turn_an_agent_cannot_call(book: sqlite3.Connection) -> None:
    finish(book, working(book))
    refused_without_turn(book)


def test_a_turn_that_is_being_cancelled_starts_nothing_more(book: sqlite3.Connection) -> None:
    cancel_turn(book, working(book), "x", LIMITS, NOW)
    refused_without_turn(book)


def test_a_session_whose_process_ended_cannot_call(book: sqlite3.Connection) -> None:
    end_instance(book, "instance_a", "interrupted", NOW)
    refused_without_turn(book)


def test_a_session_that_was_replaced_cannot_call(book: sqlite3.Connection) -> None:
    book.execute("UPDATE session_bindings SET status = 'closed' WHERE binding_id = 'binding_a'")
    refused_without_turn(book)


def test_another_session_of_the_same_agent_cannot_call_in_this_turn(
    book: sqlite3.Connection,
) -> None:
    book.execute("UPDATE turns SET binding_id = 'binding_b' WHERE target_actor_id = 'agent:a'")
    refused_without_turn(book)


# ── Once ──────────────────────────────────────────────────────────────────────────────────────


def test_the_same_call_twice_is_done_once(book: sqlite3.Connection) -> None:
    first = placed(book, command_id="1")
    again = placed(book, command_id="1")
    assert (first.is_new, again.is_new) == (True, False)
    assert again.reply == first.reply


def test_the_same_id_for_another_call_is_a_conflict(book: sqlite3.Connection) -> None:
    placed(book, command_id="1")
    with pytest.raises(RefusedError) as refused:
        call(book, "ask", command_id="1")
    assert refused.value.code is ErrorCode.CLIENT_COMMAND_CONFLICT


def test_ids_count_within_one_turn(book: sqlite3.Connection) -> None:
    placed(book, command_id="1")
    finish(book, working(book))
    start(book, send(book, "next").reply.turns[0].turn_id)
    assert placed(book, command_id="1", content="other").is_new


# ── Cycles and chains ─────────────────────────────────────────────────────────────────────────


def test_asking_oneself_or_somebody_who_waits_above_is_a_cycle(book: sqlite3.Connection) -> None:
    start(book, placed(book, "ask").reply.turns[0].turn_id, "b")
    before = event_types(book)
    for target in ("b", "a"):
        with pytest.raises(RefusedError) as refused:
            call(book, "ask", by="b", to=(target,))
        assert refused.value.code is ErrorCode.CAUSAL_CYCLE
    assert event_types(book) == before


def test_sending_to_somebody_above_is_allowed(book: sqlite3.Connection) -> None:
    start(book, placed(book, "ask").reply.turns[0].turn_id, "b")
    assert placed(book, "send", by="b", to=("a",)).reply.turns[0].queue_position == 1


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE turns SET hop_count = 5",
        "UPDATE turns SET root_correlation_id = 'corr_other'",
        "UPDATE turns SET parent_turn_id = turn_id, hop_count = 1",
        "UPDATE turns SET parent_turn_id = NULL, hop_count = 3",
    ],
)
def test_a_chain_that_is_not_whole_is_refused(book: sqlite3.Connection, harm: str) -> None:
    start(book, placed(book).reply.turns[0].turn_id, "b")
    book.execute(f"{harm} WHERE target_actor_id = 'agent:a'")
    before = event_types(book)
    with pytest.raises(RefusedError) as refused:
        call(book, by="b", to=("c",))
    assert refused.value.code is ErrorCode.STORE_CONFLICT
    assert event_types(book) == before


# ── Limits that people see ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("limits", "kind", "code"),
    [
        (Limits(hop_count=0), "hop_count", ErrorCode.HOP_LIMIT_REACHED),
        (Limits(root_turns=1), "root_turns", ErrorCode.ROOT_TURN_LIMIT_REACHED),
        (Limits(actor_calls_per_root=0), "actor_calls_per_root", ErrorCode.ROOT_TURN_LIMIT_REACHED),
        (Limits(queue_per_agent=0), "queue_per_agent", ErrorCode.QUEUE_CAPACITY_REACHED),
        (Limits(ping_pong_calls=0), "ping_pong", ErrorCode.ROOT_TURN_LIMIT_REACHED),
    ],
)
def test_a_limit_is_told_to_the_agent_and_to_the_room_once(
    book: sqlite3.Connection, limits: Limits, kind: str, code: ErrorCode
) -> None:
    first = call(book, content="secret plan", limits=limits)
    assert code_of(first) is code
    (body,) = bodies(book, "routing.loop_stopped")
    assert (body["kind"], body["callerActorId"]) == (kind, "agent:a")
    assert body["callerTurnId"] == working(book)
    assert body["held"]["content"] == "secret plan"
    assert body["held"]["to"] == body["targets"] == ["agent:b"]
    assert code_of(call(book, content="again", limits=limits)) is code
    assert len(bodies(book, "routing.loop_stopped")) == 1
    assert book.execute("SELECT count(*) FROM turns").fetchone() == (1,)
    assert find_violations(book) == []


def test_each_kind_of_limit_is_told_once(book: sqlite3.Connection) -> None:
    call(book, limits=Limits(hop_count=0))
    call(book, limits=Limits(root_turns=1))
    call(book, limits=Limits(hop_count=0))
    kinds = [body["kind"] for body in bodies(book, "routing.loop_stopped")]
    assert kinds == ["hop_count", "root_turns"]


def test_a_spent_budget_stops_a_call(book: sqlite3.Connection) -> None:
    book.execute('UPDATE turns SET usage_json = \'{"inputTokens": 70, "outputTokens": 40}\'')
    assert code_of(call(book, limits=Limits(tokens_per_root=100))) is ErrorCode.BUDGET_EXCEEDED
    placed(book, limits=Limits(tokens_per_root=111))
    assert bodies(book, "routing.loop_stopped")[0]["kind"] == "tokens_per_root"


def test_two_agents_that_only_call_each_other_are_stopped(book: sqlite3.Connection) -> None:
    limits = Limits(ping_pong_calls=3)
    by, to = "a", "b"
    for _ in range(3):
        turn_id = placed(book, by=by, to=(to,), limits=limits).reply.turns[0].turn_id
        finish(book, working(book, by))
        start(book, turn_id, to)
        by, to = to, by
    assert code_of(call(book, by=by, to=(to,), limits=limits)) is ErrorCode.ROOT_TURN_LIMIT_REACHED
    assert bodies(book, "routing.loop_stopped")[0]["kind"] == "ping_pong"
    placed(book, by=by, to=("c",), limits=limits)
    placed(book, "publish", by=by, to=(), limits=limits)


# ── Cancelling ────────────────────────────────────────────────────────────────────────────────


def test_a_cancel_takes_along_what_is_waited_for_and_leaves_what_was_sent(
    book: sqlite3.Connection,
) -> None:
    asked, queued = placed(book, "ask", to=("b", "c")).reply.turns
    sent = placed(book, "send", to=("c",)).reply.turns[0]
    start(book, asked.turn_id, "b")
    deeper = placed(book, "ask", by="b", to=("c",)).reply.turns[0]
    cancelled = cancel_turn(book, working(book), "x", LIMITS, NOW)
    told = {one.reply.turn_id: (one.actor_id, one.tell_agent) for one in cancelled.asked}
    assert told == {
        asked.turn_id: ("agent:b", True),
        queued.turn_id: ("agent:c", False),
        deeper.turn_id: ("agent:c", False),
    }
    statuses = [turn_row(book, t.turn_id)["status"] for t in (asked, queued, deeper, sent)]
    assert statuses == ["cancelling", "cancelled", "cancelled", "queued"]
    assert find_violations(book) == []


def test_an_end_that_is_no_cancel_leaves_the_asks_alone(book: sqlite3.Connection) -> None:
    asked = placed(book, "ask").reply.turns[0].turn_id
    end_turn(book, TurnEnd(working(book), TurnStatus.FAILED, error_code="AGENT_ERROR"), LIMITS, NOW)
    assert turn_row(book, asked)["status"] == "queued"


def test_cancelling_an_ended_turn_touches_nothing_below(book: sqlite3.Connection) -> None:
    parent = working(book)
    asked = placed(book, "ask").reply.turns[0].turn_id
    finish(book, parent)
    assert not cancel_turn(book, parent, "x", LIMITS, NOW).reply.accepted
    assert turn_row(book, asked)["status"] == "queued"
