"""The side conversation on disk: in order, ended once, pruned, and read through an index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.ledger import sidetalk
from groupx_server.ledger.sidetalk import (
    NewRequest,
    RequestEnd,
    acts_of,
    begin_request,
    cancel_request,
    clear_side,
    end_request,
    insert_act,
    list_side,
    next_request,
    settle_side,
    take_request,
)
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.assistant import AssistantAct, CancelAssistant
from support.transactions import open_book

NOW = "2026-01-31T10:00:00.000Z"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def ask(book: sqlite3.Connection, number: int) -> str:
    at = f"2026-01-31T09:15:{number:02}.000Z"
    taken = take_request(book, NewRequest(f"c{number}", f"number {number}", "room:main"), at)
    return taken.request.message_id


def end(book: sqlite3.Connection, request_id: str, content: str = "done") -> None:
    begin_request(book, request_id)
    end_request(book, RequestEnd(request_id, "completed", content), NOW)


def test_requests_are_taken_in_order_and_each_once(book: sqlite3.Connection) -> None:
    first, second = ask(book, 1), ask(book, 2)
    head = next_request(book)
    assert head is not None
    assert head.message_id == first
    assert begin_request(book, first)
    assert not begin_request(book, first)
    head = next_request(book)
    assert head is not None
    assert head.message_id == second


def test_a_request_ends_once(book: sqlite3.Connection) -> None:
    request_id = ask(book, 1)
    begin_request(book, request_id)
    assert len(end_request(book, RequestEnd(request_id, "completed", "yes"), NOW)) == 2
    assert end_request(book, RequestEnd(request_id, "failed", "no"), NOW) == []
    assert [m.content for m in list_side(book, None, 9)[0]] == ["number 1", "yes"]


def test_a_cancelled_request_is_not_begun(book: sqlite3.Connection) -> None:
    request_id = ask(book, 1)
    done = cancel_request(book, CancelAssistant(client_command_id="x", request_id=request_id), NOW)
    assert (done.accepted, done.status) == (True, "cancelled")
    assert not begin_request(book, request_id)
    again = CancelAssistant(client_command_id="x", request_id=request_id)
    assert cancel_request(book, again, NOW) == done


def test_an_unknown_request_cannot_be_cancelled(book: sqlite3.Connection) -> None:
    asked = CancelAssistant(client_command_id="x", request_id="side_none")
    with pytest.raises(RefusedError) as refused:
        cancel_request(book, asked, NOW)
    assert refused.value.code is ErrorCode.UNKNOWN_EVENT


def test_a_start_ends_what_ran_and_leaves_what_waits(book: sqlite3.Connection) -> None:
    running, waiting = ask(book, 1), ask(book, 2)
    begin_request(book, running)
    assert [m.message_id for m in settle_side(book, NOW)] == [running]
    assert settle_side(book, NOW) == []
    head = next_request(book)
    assert head is not None
    assert head.message_id == waiting


def test_the_oldest_messages_go_with_their_acts_and_open_ones_stay(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidetalk, "MAX_KEPT", 3)
    first = ask(book, 1)
    act = AssistantAct(act_id="act_1", tool="send", summary="x", occurred_at=NOW)
    insert_act(book, first, act)
    end(book, first, content="")
    for number in (2, 3, 4):
        end(book, ask(book, number), content="")
    last = ask(book, 5)
    kept = [message.content for message in list_side(book, None, 99)[0]]
    assert kept == ["number 3", "number 4", "number 5"]
    assert acts_of(book, first) == []
    assert begin_request(book, last)


def test_clearing_leaves_nothing(book: sqlite3.Connection) -> None:
    request_id = ask(book, 1)
    insert_act(book, request_id, AssistantAct(act_id="a", tool="t", summary="x", occurred_at=NOW))
    with pytest.raises(RefusedError):
        clear_side(book)
    end(book, request_id)
    assert clear_side(book) == 2
    assert list_side(book, None, 9) == ([], None)
    assert acts_of(book, request_id) == []


def test_pages_go_through_an_index(book: sqlite3.Connection) -> None:
    statements: list[str] = []
    request_id = ask(book, 1)
    book.set_trace_callback(statements.append)
    list_side(book, request_id, 5)
    next_request(book)
    acts_of(book, request_id)
    book.set_trace_callback(None)
    for sql in statements:
        steps = [row[3] for row in book.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert not [step for step in steps if step.startswith("SCAN") and "USING" not in step], sql
