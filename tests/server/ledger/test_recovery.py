"""A start after a kill: each open turn is settled once, and nothing is sent twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from groupx_server.domain.turn import Recollection, TurnStatus
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.dispatch import (
    Attempt,
    append_partial,
    mark_native_started,
    mark_prompt_invoked,
)
from groupx_server.ledger.recovery import Recovery, recover
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import head_of_lane
from groupx_server.ledger.verify import find_violations
from support.transactions import LIMITS, NOW, claim, open_book, send, start, turn_row


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _attempt(book: sqlite3.Connection, turn_id: str) -> dict[str, object]:
    cursor = book.execute(
        "SELECT * FROM turn_attempts WHERE turn_id = ? ORDER BY rowid DESC LIMIT 1", (turn_id,)
    )
    return dict(zip([c[0] for c in cursor.description], cursor.fetchone(), strict=True))


def test_a_prepared_turn_that_never_left_goes_back_to_the_queue(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    claim(book, turn_id)
    assert recover(book, LIMITS, NOW).requeued == [turn_id]
    assert turn_row(book, turn_id)["status"] == "queued"
    again = claim(book, turn_id)
    assert again is not None


def test_a_cancelled_turn_that_never_left_is_cancelled(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    claim(book, turn_id)
    cancel_turn(book, turn_id, "k", LIMITS, NOW)
    assert recover(book, LIMITS, NOW).cancelled == [turn_id]
    assert turn_row(book, turn_id)["status"] == "cancelled"


def test_an_invoked_prompt_ends_interrupted_and_stays_unknown(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    attempt = claim(book, turn_id)
    assert attempt is not None
    mark_prompt_invoked(book, attempt, NOW)
    assert recover(book, LIMITS, NOW).interrupted == [turn_id]
    assert _attempt(book, turn_id)["delivery_certainty"] == "unknown"
    assert "may have arrived" in turn_row(book, turn_id)["error_message"]


@pytest.mark.parametrize(
    ("recollection", "is_started", "is_left"),
    [
        ("end", False, True),
        ("end", True, True),
        ("arrival", False, True),
        ("arrival", True, False),
    ],
)
def test_a_turn_stays_open_only_for_what_its_agent_can_tell(
    book: sqlite3.Connection, recollection: Recollection, is_started: bool, is_left: bool
) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    if is_started:
        start(book, turn_id)
    else:
        attempt = claim(book, turn_id)
        assert attempt is not None
        mark_prompt_invoked(book, attempt, NOW)
    book.execute("UPDATE session_bindings SET native_session_id = 'native'")
    agent = book.execute("SELECT target_actor_id FROM turns").fetchone()[0]
    done = recover(book, LIMITS, NOW, {agent: recollection})
    assert (done.left, done.interrupted) == ([turn_id], []) if is_left else ([], [turn_id])


def test_a_running_turn_ends_interrupted_keeps_its_text_and_stays_delivered(
    book: sqlite3.Connection,
) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    start(book, turn_id)
    append_partial(book, turn_id, 1, "half an ")
    append_partial(book, turn_id, 2, "answer")
    recover(book, LIMITS, NOW)
    assert turn_row(book, turn_id)["partial_text"] == "half an answer"
    assert _attempt(book, turn_id)["delivery_certainty"] == "delivered"


def test_a_second_recovery_finds_nothing_to_do(book: sqlite3.Connection) -> None:
    start(book, send(book).reply.turns[0].turn_id)
    recover(book, LIMITS, NOW)
    again = recover(book, LIMITS, NOW)
    assert again == Recovery()


def test_a_queued_turn_of_the_old_transport_fails_and_says_so(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    book.execute("UPDATE turns SET transport = 'direct' WHERE turn_id = ?", (turn_id,))
    assert recover(book, LIMITS, NOW).failed == [turn_id]
    assert turn_row(book, turn_id)["error_code"] == "TRANSPORT_MODE_MISMATCH"


class LifeOfTurns(RuleBasedStateMachine):
    """Any order of steps, cancels and crashes keeps every rule of the ledger."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.book = open_book(Path(self.folder.name))
        self.attempts: dict[str, Attempt] = {}
        self.commands = 0

    def teardown(self) -> None:
        self.book.close()
        self.folder.cleanup()

    @rule(to=st.sampled_from([(), ("a",), ("b",), ("a", "b")]))
    def accept(self, to: tuple[str, ...]) -> None:
        send(self.book, to=to)

    @rule(name=st.sampled_from("ab"))
    def claim_head(self, name: str) -> None:
        head = head_of_lane(self.book, f"agent:{name}")
        if head is not None and name not in self.attempts:
            attempt = claim(self.book, head.turn_id, name)
            assert attempt is not None
            self.attempts[name] = attempt

    @precondition(lambda self: self.attempts)
    @rule(data=st.data())
    def advance(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.attempts)))
        attempt = self.attempts[name]
        (phase,) = self.book.execute(
            "SELECT dispatch_phase FROM turn_attempts WHERE attempt_id = ?", (attempt.attempt_id,)
        ).fetchone()
        if phase == "prepared":
            if not mark_prompt_invoked(self.book, attempt, NOW):
                self._end(name, TurnStatus.CANCELLED)
        elif phase == "prompt_invoked":
            mark_native_started(self.book, attempt, None, f"instance_{name}", NOW)
        else:
            self._end(name, data.draw(st.sampled_from(sorted(TurnStatus)[:4])))

    def _end(self, name: str, status: TurnStatus) -> None:
        attempt = self.attempts.pop(name)
        final = status if status.value in ("completed", "failed", "cancelled") else None
        end = TurnEnd(attempt.turn_id, final or TurnStatus.FAILED, answer="text")
        end_turn(self.book, end, LIMITS, NOW)

    @rule(data=st.data())
    def cancel_any(self, data: st.DataObject) -> None:
        ids = [row[0] for row in self.book.execute("SELECT turn_id FROM turns ORDER BY rowid")]
        if ids:
            self.commands += 1
            turn_id = data.draw(st.sampled_from(ids))
            cancel_turn(self.book, turn_id, f"cancel{self.commands}", LIMITS, NOW)

    @rule()
    def crash_and_start(self) -> None:
        self.attempts.clear()
        recover(self.book, LIMITS, NOW)

    @invariant()
    def every_rule_holds(self) -> None:
        assert find_violations(self.book) == []


LifeOfTurns.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLifeOfTurns = pytest.mark.slow(LifeOfTurns.TestCase)
