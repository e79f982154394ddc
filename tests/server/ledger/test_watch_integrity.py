"""Whatever workers, observers and people do in whatever order: every step is told once and in
order, every steer is counted, and nothing that may have arrived is sent again."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groupx_server.domain.limits import Limits
from groupx_server.domain.steps import Step
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.steers import (
    Action,
    Outcome,
    Steer,
    SteerPlaced,
    place_steer,
    settle_left_nudges,
    settle_nudge,
)
from groupx_server.ledger.steps import newest_step, note_steps
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import head_of_lane
from groupx_server.ledger.verify import find_violations
from groupx_server.ledger.watches import first_seen, read_snapshot, record_look, require_watch
from groupx_shared.errors import RefusedError
from support.transactions import LIMITS, NOW, caller, open_book, start, turn_row, watched

AGENTS: Final = ("a", "b", "eye")
TIGHT: Final = Limits(steers_per_subject_turn=2, root_turns=8)

workers = st.sampled_from(("a", "b"))
anybody = st.sampled_from(AGENTS)
ends = st.sampled_from([TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.INTERRUPTED])
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(["taken", "queued", "unknown"])
steers = st.tuples(
    st.just("steer"), st.just("eye"), st.sampled_from(["nudge", "interrupt"]), st.booleans()
)
settles = st.tuples(st.just("settle"), st.just("eye"), outcomes)
acts = st.one_of(
    st.tuples(st.just("task"), workers),
    st.tuples(st.just("start"), anybody),
    st.tuples(st.just("step"), workers),
    st.tuples(st.just("look"), st.just("eye")),
    steers,
    steers,
    settles,
    settles,
    st.tuples(st.just("restart"), st.just("eye")),
    st.tuples(st.just("end"), anybody, ends),
    st.tuples(st.just("cancel"), anybody),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    connection = open_book(Path(tmp_path_factory.mktemp("book")), AGENTS)
    yield connection
    connection.close()


class World:
    """A ledger, and what anybody may do next; refusals leave nothing."""

    def __init__(self, book: sqlite3.Connection) -> None:
        self.book = book
        self.count = 0
        self.told: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        """Steps that an observer's turn was told of a subject."""

    def do(self, what: str, name: str, *more: object) -> None:
        self.count += 1
        self.book.execute("SAVEPOINT act")
        try:
            getattr(self, f"do_{what}")(name, *more)
        except RefusedError:
            self.book.execute("ROLLBACK TO act")
        self.book.execute("RELEASE act")

    def running(self, name: str) -> str | None:
        row = self.book.execute(
            "SELECT turn_id FROM turns WHERE target_actor_id = ?"
            " AND status IN ('running', 'cancelling')",
            (f"agent:{name}",),
        ).fetchone()
        return None if row is None else str(row[0])

    def do_task(self, name: str) -> None:
        watched(self.book, name, "eye")

    def do_start(self, name: str) -> None:
        head = head_of_lane(self.book, f"agent:{name}")
        if head is not None and self.running(name) is None:
            start(self.book, head.turn_id, name)

    def do_step(self, name: str) -> None:
        if (turn_id := self.running(name)) is not None:
            number = newest_step(self.book, turn_id) + 1
            note_steps(self.book, turn_id, [Step(number, "content", NOW, chars=4_096)])

    def do_look(self, name: str) -> None:
        watching = require_watch(self.book, caller(name), None)
        snapshot = read_snapshot(self.book, watching, first_seen(self.book, watching))
        record_look(self.book, caller(name), snapshot, "next_milestone", False, NOW)
        key = (watching.turn.turn_id, watching.subject.turn_id)
        self.told[key] += [step.number for step in snapshot.steps]

    def do_steer(self, name: str, action: Action, is_live: bool) -> None:
        subject = require_watch(self.book, caller(name), None).subject
        live = subject.turn_id if is_live else None
        steer = Steer(caller(name), f"s{self.count}", action, "why", "what", None, live)
        first = place_steer(self.book, steer, TIGHT, NOW)
        again = place_steer(self.book, steer, TIGHT, NOW)
        if isinstance(first, SteerPlaced):
            assert isinstance(again, SteerPlaced)
            assert (again.steered, again.is_new) == (first.steered, False)

    def do_settle(self, _: str, outcome: Outcome) -> None:
        row = self.book.execute(
            "SELECT message_event_id FROM supervision_nudges WHERE state = 'sending' LIMIT 1"
        ).fetchone()
        if row is not None:
            queued = settle_nudge(self.book, row[0], outcome, NOW)
            assert (queued is not None) == (outcome == "queued")
            assert settle_nudge(self.book, row[0], "queued", NOW) is None

    def do_restart(self, _: str) -> None:
        settle_left_nudges(self.book, NOW)

    def do_end(self, name: str, status: TurnStatus) -> None:
        if (turn_id := self.running(name)) is not None:
            end_turn(self.book, TurnEnd(turn_id, status, answer="x"), LIMITS, NOW)

    def do_cancel(self, name: str) -> None:
        if (turn_id := self.running(name)) is not None:
            cancel_turn(self.book, turn_id, f"x{self.count}", LIMITS, NOW)


def _check(world: World) -> None:
    book = world.book
    assert find_violations(book) == []
    for (observer, subject), numbers in world.told.items():
        last = newest_step(book, subject)
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) <= last
        assert turn_row(book, observer)["target_actor_id"] == "agent:eye"
    counts = book.execute("SELECT steer_count FROM supervision_steer_counts").fetchall()
    assert all(count <= TIGHT.steers_per_subject_turn for (count,) in counts)
    (steered,) = book.execute(
        "SELECT count(*) FROM events WHERE event_type = 'supervision.steered'"
    ).fetchone()
    assert steered == sum(count for (count,) in counts)
    (settled,) = book.execute(
        "SELECT count(*) FROM events WHERE event_type = 'supervision.nudged'"
    ).fetchone()
    (nudges,) = book.execute(
        "SELECT count(*) FROM supervision_nudges WHERE state <> 'sending'"
    ).fetchone()
    assert settled == nudges


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(acts, min_size=10, max_size=60))
def test_any_order_of_watching_and_steering_tells_each_step_once_and_counts_each_steer(
    template: sqlite3.Connection, done: list[tuple[str, str]]
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as book:
        template.backup(book)
        book.execute("PRAGMA foreign_keys = ON")
        world = World(book)
        for act in ("task", "a"), ("start", "a"), ("start", "eye"), *done:
            world.do(*act)
        _check(world)
