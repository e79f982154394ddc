"""Which turns go into an agent's day, when that is written down, and that it happens once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.days import (
    DUE_TURNS,
    Day,
    DayBatch,
    days_before,
    due_days,
    finish_batch,
    local_date,
    note_failure,
    read_batch,
)
from groupx_server.ledger.memory import list_memory, retract
from groupx_server.ledger.records import Author
from groupx_server.ledger.redaction import Target, redact
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import RefusedError
from support.transactions import LIMITS, NOW, bodies, event_types, open_book, send, start

LATER = "2026-01-31T09:25:00.250Z"
TOMORROW = "2026-02-02T09:15:00.250Z"
DATED = {"scope_type": "agent", "agent_memory_type": "dated"}


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _turn(
    book: sqlite3.Connection,
    said: str = "do it",
    answer: str = "done",
    status: TurnStatus = TurnStatus.COMPLETED,
) -> str:
    sent = send(book, said).reply
    turn_id = sent.turns[0].turn_id
    start(book, turn_id)
    end_turn(book, TurnEnd(turn_id, status, answer=answer), LIMITS, NOW)
    return sent.message_event_id


def _batch(book: sqlite3.Connection) -> DayBatch:
    [day] = due_days(book, TOMORROW)
    batch = read_batch(book, day)
    assert batch is not None
    return batch


def _dated(book: sqlite3.Connection) -> list[str]:
    return [record.content for record in list_memory(book, DATED).items]


def test_only_completed_turns_go_into_a_day(book: sqlite3.Connection) -> None:
    _turn(book)
    _turn(book, status=TurnStatus.FAILED)
    batch = _batch(book)
    assert (batch.day.pending_turns, batch.day.pending_chars) == (1, len("do it") + len("done"))
    assert [(t.asked.content, t.answered.content) for t in batch.turns] == [("do it", "done")]


def test_a_day_is_due_after_enough_turns_and_quiet_or_when_it_is_over(
    book: sqlite3.Connection,
) -> None:
    for _ in range(DUE_TURNS - 1):
        _turn(book)
    assert due_days(book, LATER) == []
    assert len(due_days(book, TOMORROW)) == 1
    _turn(book)
    assert due_days(book, NOW) == []  # not quiet yet
    assert len(due_days(book, LATER)) == 1


def test_many_characters_are_enough_too(book: sqlite3.Connection) -> None:
    _turn(book, "x" * 16_000)
    assert len(due_days(book, LATER)) == 1


def test_a_batch_makes_one_record_and_the_next_one_takes_its_place(
    book: sqlite3.Connection,
) -> None:
    _turn(book)
    first = finish_batch(book, _batch(book), "- one", {"totalTokens": 5}, NOW)
    assert first is not None
    assert (first.source_kind, first.subject_actor_id) == ("automatic_rollup", "agent:a")
    assert first.day == local_date(NOW)
    assert due_days(book, TOMORROW) == []
    _turn(book)
    batch = _batch(book)
    assert batch.previous == first
    second = finish_batch(book, batch, "- one and two", {}, NOW)
    assert second is not None
    assert second.supersedes_memory_id == first.memory_id
    assert _dated(book) == ["- one and two"]
    assert event_types(book)[-1] == "memory.superseded"
    assert bodies(book, "memory.remembered")[0]["usage"] == {"totalTokens": 5}
    assert find_violations(book) == []


def test_nothing_worth_keeping_keeps_what_there_was(book: sqlite3.Connection) -> None:
    _turn(book)
    finish_batch(book, _batch(book), "- one", {}, NOW)
    _turn(book)
    assert finish_batch(book, _batch(book), None, {}, NOW) is None
    assert _dated(book) == ["- one"]
    assert due_days(book, TOMORROW) == []


def test_a_batch_of_a_state_that_is_gone_changes_nothing(book: sqlite3.Connection) -> None:
    _turn(book)
    stale = _batch(book)
    first = finish_batch(book, stale, "- one", {}, NOW)
    with pytest.raises(RefusedError, match="changed"):
        finish_batch(book, stale, "- other", {}, NOW)
    assert _dated(book) == ["- one"]
    assert first is not None
    retract(book, first.memory_id, Author("user:web", "web"), NOW)
    _turn(book)
    batch = _batch(book)
    assert batch.previous is None  # what was taken back is not told to the writer
    finish_batch(book, batch, "- new", {}, NOW)
    assert _dated(book) == ["- new"]


def test_after_a_failure_the_pause_grows_and_is_on_disk(book: sqlite3.Connection) -> None:
    _turn(book)
    [day] = due_days(book, TOMORROW)
    note_failure(book, day, "TURN_IDLE_TIMEOUT", TOMORROW)
    assert due_days(book, "2026-02-02T09:16:00.000Z") == []
    [again] = due_days(book, "2026-02-02T09:16:00.250Z")
    assert again.failure_count == 1
    for _ in range(6):
        [row] = due_days(book, "2026-02-03T09:15:00.250Z")
        note_failure(book, row, "TURN_IDLE_TIMEOUT", TOMORROW)
    assert due_days(book, "2026-02-02T09:30:00.000Z") == []
    assert len(due_days(book, "2026-02-02T09:30:00.250Z")) == 1  # never more than 15 minutes


def test_a_compaction_finds_the_days_that_it_would_pass(book: sqlite3.Connection) -> None:
    _turn(book)
    (newest,) = book.execute("SELECT max(seq) FROM events").fetchone()
    assert len(days_before(book, "room:main", newest)) == 1
    assert days_before(book, "room:main", 0) == []
    assert days_before(book, "room:other", newest) == []


def test_a_day_written_from_a_removed_text_is_thrown_away_and_waits_again(
    book: sqlite3.Connection,
) -> None:
    event_id = _turn(book, "the xylophone is here")
    _turn(book, "another thing")
    finish_batch(book, _batch(book), "- a xylophone", {}, NOW)
    removed = redact(book, Target("event", event_id, "user:web", "web"), NOW)
    assert removed.days == 1
    assert _dated(book) == []
    batch = _batch(book)
    assert [t.asked.content for t in batch.turns] == ["[removed]", "another thing"]
    assert "xylophone" not in str(book.execute("SELECT * FROM memory_records").fetchall())
    assert find_violations(book) == []


def test_a_day_is_that_of_the_servers_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_date("2026-01-31T12:00:00.000Z") in ("2026-01-31", "2026-02-01")
    day = Day("room:main", "agent:a", "2026-01-31", 1, 9, 0)
    assert day.key == ("room:main", "agent:a", "2026-01-31")
