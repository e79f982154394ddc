"""A room's summary: one, rolled forward by compare-and-set; and the floor that a reset puts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_server.context.gather import PacketRequest, context_usage, gather_packet
from groupx_server.ledger.resets import reset_context
from groupx_server.ledger.summaries import (
    NewSummary,
    active_summary,
    oldest_between,
    save_summary,
    seq_before_last,
)
from groupx_shared.errors import RefusedError
from support.transactions import NOW, bodies, open_book, send

MAIN = "room:main"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _said(book: sqlite3.Connection, count: int) -> list[int]:
    return [send(book, f"message {n}", to=()).reply.seq for n in range(count)]


def _new(from_seq: int, through_seq: int, previous: str | None = None) -> NewSummary:
    return NewSummary(MAIN, from_seq, through_seq, "- summed", "agent:a", previous)


def test_a_summary_rolls_forward_and_one_is_active(book: sqlite3.Connection) -> None:
    seqs = _said(book, 4)
    first = save_summary(book, _new(seqs[0], seqs[1]), NOW)
    second = save_summary(book, _new(seqs[0], seqs[3], first.summary_id), NOW)
    assert active_summary(book, MAIN) == second
    states = book.execute("SELECT status FROM summaries ORDER BY through_seq").fetchall()
    assert states == [("superseded",), ("active",)]


def test_a_summary_of_a_state_that_is_gone_changes_nothing(book: sqlite3.Connection) -> None:
    seqs = _said(book, 4)
    first = save_summary(book, _new(seqs[0], seqs[1]), NOW)
    late = _new(seqs[0], seqs[2])
    wrong = [
        late,
        replace(late, previous_id="summary_other"),
        replace(late, previous_id=first.summary_id, through_seq=seqs[1]),
        replace(late, previous_id=first.summary_id, from_seq=seqs[1]),
        replace(late, previous_id=first.summary_id, through_seq=seqs[3] + 1),
    ]
    for new in wrong:
        with pytest.raises(RefusedError, match="not kept"):
            save_summary(book, new, NOW)
    assert active_summary(book, MAIN) == first


def test_a_summary_that_began_at_no_message_can_be_carried_on(book: sqlite3.Connection) -> None:
    """So wrote an earlier program; its rooms could not be summed up any further."""
    seqs = _said(book, 3)
    first = save_summary(book, _new(seqs[0], seqs[1]), NOW)
    book.execute("UPDATE summaries SET from_seq = 0")
    later = save_summary(book, _new(0, seqs[2], first.summary_id), NOW)
    assert (later.from_seq, later.through_seq) == (0, seqs[2])


def test_the_first_summary_of_a_room_begins_at_a_message(book: sqlite3.Connection) -> None:
    seqs = _said(book, 2)
    with pytest.raises(RefusedError, match="begin and end with messages"):
        save_summary(book, _new(seqs[1] + 1, seqs[1]), NOW)


def test_chunks_have_at_least_one_message_and_keep_to_their_size(book: sqlite3.Connection) -> None:
    seqs = _said(book, 4)
    assert [m.seq for m in oldest_between(book, MAIN, 0, seqs[3], 1)] == seqs[:1]
    assert [m.seq for m in oldest_between(book, MAIN, 0, seqs[3], 20)] == seqs[:2]
    assert [m.seq for m in oldest_between(book, MAIN, seqs[1], seqs[2], 99)] == [seqs[2]]
    assert seq_before_last(book, MAIN, 2) == seqs[1]
    assert seq_before_last(book, MAIN, 9) == 0


def _packet(book: sqlite3.Connection, event_id: str, *, fresh: bool = True) -> str:
    request = PacketRequest(MAIN, event_id, "agent:a", "A", None, fresh, 256_000)
    return gather_packet(book, request).text


def test_after_a_reset_nothing_older_is_told_and_a_second_one_changes_nothing(
    book: sqlite3.Connection,
) -> None:
    seqs = _said(book, 3)
    save_summary(book, _new(seqs[0], seqs[1]), NOW)
    done = reset_context(book, MAIN, True, NOW)
    assert done.is_new
    assert active_summary(book, MAIN) is None
    assert not reset_context(book, MAIN, True, NOW).is_new
    text = _packet(book, send(book, "from here").reply.message_event_id)
    assert "message 2" not in text
    assert "summed" not in text
    usage = context_usage(book, MAIN, 1_000)
    assert (usage.uncompacted_message_count, usage.reset_through_seq) == (1, done.through_seq)
    assert bodies(book, "context.reset") == [
        {"throughSeq": done.through_seq, "resetNativeSessions": True}
    ]


def test_a_summary_is_told_once_with_its_label_and_what_follows(book: sqlite3.Connection) -> None:
    seqs = _said(book, 3)
    save_summary(book, _new(seqs[0], seqs[1]), NOW)
    text = _packet(book, send(book, "and now").reply.message_event_id)
    summary = text[text.index("[room_checkpoint_summary") : text.index("[room_delta")]
    assert "- summed" in summary
    assert "source=generated-summary" in summary
    assert "message 1" not in text
    assert "message 2" in text
