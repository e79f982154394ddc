"""Whatever agents call in whatever order: every turn hangs where it belongs, nothing waits for
itself, and the limits of a root hold."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.calls import CallKind
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import head_of_lane
from groupx_server.ledger.verify import find_violations
from groupx_shared.errors import RefusedError
from support.transactions import LIMITS, NOW, call, open_book, send, start

AGENTS = ("a", "b", "c")
TIGHT = Limits(root_turns=8, hop_count=5, actor_calls_per_root=4, queue_per_agent=3)

agents = st.sampled_from(AGENTS)
ends = st.sampled_from([TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.INTERRUPTED])
steps = st.one_of(
    st.tuples(st.just("say"), agents),
    st.tuples(st.just("start"), agents),
    st.tuples(
        st.sampled_from(["send", "ask", "publish"]),
        agents,
        st.lists(agents, min_size=1, max_size=2, unique=True),
    ),
    st.tuples(st.just("end"), agents, ends),
    st.tuples(st.just("cancel"), agents),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    connection = open_book(Path(tmp_path_factory.mktemp("book")), AGENTS)
    yield connection
    connection.close()


class World:
    """A ledger, and what an agent, a person or the server may do next."""

    def __init__(self, book: sqlite3.Connection) -> None:
        self.book = book
        self.count = 0

    def do(self, what: str, name: str, *more: object) -> None:
        self.count += 1
        act: Callable[..., None] = getattr(self, f"do_{what}", self.do_call)
        with contextlib.suppress(RefusedError):  # what remains is checked at the end
            act(name, what, *more)

    def running(self, name: str) -> str | None:
        row = self.book.execute(
            "SELECT turn_id FROM turns WHERE target_actor_id = ?"
            " AND status IN ('running', 'cancelling')",
            (f"agent:{name}",),
        ).fetchone()
        return None if row is None else str(row[0])

    def do_say(self, name: str, _: str) -> None:
        send(self.book, to=(name,), command_id=f"p{self.count}")

    def do_start(self, name: str, _: str) -> None:
        head = head_of_lane(self.book, f"agent:{name}")
        if head is not None and self.running(name) is None:
            start(self.book, head.turn_id, name)

    def do_call(self, name: str, kind: CallKind, targets: list[str]) -> None:
        to = () if kind == "publish" else tuple(targets)
        call(self.book, kind, to=to, by=name, command_id=f"k{self.count}", limits=TIGHT)

    def do_end(self, name: str, _: str, status: TurnStatus) -> None:
        if (turn_id := self.running(name)) is not None:
            end_turn(self.book, TurnEnd(turn_id, status, answer="x"), LIMITS, NOW)

    def do_cancel(self, name: str, _: str) -> None:
        if (turn_id := self.running(name)) is not None:
            cancel_turn(self.book, turn_id, f"x{self.count}", LIMITS, NOW)


def _check(book: sqlite3.Connection) -> None:
    assert find_violations(book) == []
    rows = book.execute(
        "SELECT turn_id, parent_turn_id, target_actor_id, root_correlation_id, hop_count, asked,"
        " status FROM turns"
    ).fetchall()
    by_id = {row[0]: row for row in rows}
    for row in rows:
        above = []
        parent = row[1]
        while parent is not None:
            above.append(by_id[parent][2])
            parent = by_id[parent][1]
        assert len(above) == row[4] <= TIGHT.hop_count
        if row[5]:
            assert row[2] not in above
            if row[6] in ("queued", "dispatching", "running"):
                assert by_id[row[1]][6] not in ("cancelling", "cancelled")
    for counted in Counter(row[3] for row in rows).values():
        assert counted <= TIGHT.root_turns
    for counted in Counter((row[2], row[3]) for row in rows).values():
        assert counted <= TIGHT.actor_calls_per_root


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=40))
def test_any_order_of_calls_leaves_whole_chains(
    template: sqlite3.Connection, done: list[tuple[str, str]]
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as book:
        template.backup(book)
        book.execute("PRAGMA foreign_keys = ON")
        world = World(book)
        for step in done:
            world.do(*step)
        _check(book)
