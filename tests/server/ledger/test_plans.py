"""No hot query scans a table: each uses an index, whatever the room's length."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groupx_server.context.gather import PacketRequest, context_usage, gather_packet
from groupx_server.domain.limits import Limits
from groupx_server.domain.steps import Step
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.accept import Source
from groupx_server.ledger.advice import (
    TurnAdvice,
    advice_state,
    place_advice,
    settle_advice,
    settle_left_advice,
)
from groupx_server.ledger.bindings import native_session_to_resume
from groupx_server.ledger.budget import end_over_budget
from groupx_server.ledger.callers import require_turn
from groupx_server.ledger.cancel import cancel_turn
from groupx_server.ledger.correlation import (
    children_of,
    events_of,
    read_told,
    require_correlation,
    turns_of,
)
from groupx_server.ledger.events import page, read_event, rows_after
from groupx_server.ledger.messages import said_after
from groupx_server.ledger.outcomes import (
    are_all_ended,
    correlation_of_call,
    is_working,
    read_outcomes,
)
from groupx_server.ledger.overview import read_overview, whole_text
from groupx_server.ledger.recalled import left_open
from groupx_server.ledger.recovery import recover
from groupx_server.ledger.rooms import change_room, create_room
from groupx_server.ledger.roots import list_roots
from groupx_server.ledger.steers import (
    Action,
    Steer,
    SteerPlaced,
    delivery_of,
    place_steer,
    settle_left_nudges,
    settle_nudge,
)
from groupx_server.ledger.steps import Seen, note_steps
from groupx_server.ledger.stops import grant, pending_stops
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import (
    OPEN_SQL,
    actors_with_queued_turns,
    head_of_lane,
    lane_ahead,
    list_turns,
    open_sources,
    queued_counts,
    read_turn,
)
from groupx_server.ledger.usage import read_usage
from groupx_server.ledger.watches import (
    first_seen,
    has_ended,
    has_news,
    read_snapshot,
    record_look,
    require_watch,
)
from support.transactions import (
    LIMITS,
    NOW,
    call,
    caller,
    claim,
    open_book,
    placed,
    send,
    start,
    watched,
)

SMALL_TABLES = ("rooms", "actors", "json_each", "(subquery", "usage_totals")
"""Tables that do not grow with what is said, and subqueries of at most one row."""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def _plans(book: sqlite3.Connection, act: Callable[[], Any]) -> dict[str, list[str]]:
    """Query plans of every statement that `act` runs."""
    statements: list[str] = []
    book.set_trace_callback(statements.append)
    act()
    book.set_trace_callback(None)
    plans = {}
    for sql in dict.fromkeys(statements):
        if sql.lstrip().split(" ")[0] in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            told = sql.replace("-Inf", "-9e999")  # SQLite writes it so and does not read it
            rows = book.execute(f"EXPLAIN QUERY PLAN {told}")
            plans[sql] = [row[3] for row in rows]
    return plans


def _scans(plans: dict[str, list[str]]) -> list[str]:
    found = []
    for sql, steps in plans.items():
        # The search index ranks, and bounds itself (test_search); actors are few.
        if "search_fts" in sql or "FROM actors a " in sql:
            continue
        for step in steps:
            bare = step.startswith("SCAN") and "USING" not in step and "CONSTANT" not in step
            if bare and not any(f"SCAN {table}" in step for table in SMALL_TABLES):
                found.append(f"{step}: {sql}")
            # Sorting is fine where only open turns are sorted, or rooms.
            if "TEMP B-TREE" in step and "rooms" not in sql and "turns_open_" not in sql:
                found.append(f"{step}: {sql}")
    return found


def _open_turns_by_the_way(plans: dict[str, list[str]]) -> list[str]:
    """Statements about open turns of a room or an agent that look through all of its turns."""
    long_ways = ("turns_room_idx", "turns_order_idx", "(target_actor_id=?)", "SCAN turns", "SCAN t")
    return [
        f"{step}: {sql}"
        for sql, steps in plans.items()
        for step in steps
        if f" IN {OPEN_SQL}" in sql and f"NOT IN {OPEN_SQL}" not in sql
        and "turns_open_" not in step and any(way in step for way in long_ways)
    ]  # fmt: skip


def _packet(book: sqlite3.Connection, event_id: str) -> None:
    gather_packet(book, PacketRequest("room:main", event_id, "agent:a", "A", None, False, 256_000))


@pytest.mark.parametrize(
    "read",
    [
        lambda book: read_overview(book, "room:main", 100),
        lambda book: head_of_lane(book, "agent:a"),
        queued_counts,
        actors_with_queued_turns,
        lambda book: list_turns(book, selection="open"),
        lambda book: list_turns(book, room_id="room:main", selection="open"),
        lambda book: list_turns(book, actor_id="agent:a", selection="open"),
        lambda book: list_turns(book, room_id="room:main", actor_id="agent:a", selection="open"),
        lambda book: list_roots(book, None, "open", None, 20),
        lambda book: list_roots(book, "room:main", "open", None, 20),
        lambda book: open_sources(book, "agent:a", "room:main"),
        lambda book: lane_ahead(book, "agent:a"),
        lambda book: change_room(book, "room:side", None, True, NOW),
        lambda book: recover(book, LIMITS, NOW),
        lambda book: left_open(book, "agent:a"),
        lambda book: require_turn(book, caller()),
        send,
    ],
)
def test_open_turns_are_found_without_looking_through_ended_ones(
    book: sqlite3.Connection, read: Callable[[sqlite3.Connection], Any]
) -> None:
    create_room(book, "room:side", "Side", NOW)
    start(book, send(book).reply.turns[0].turn_id)
    assert _open_turns_by_the_way(_plans(book, lambda: read(book))) == []


def test_reads_on_hot_paths_use_an_index(book: sqlite3.Connection) -> None:
    accepted = send(book).reply
    turn_id, event_id = accepted.turns[0].turn_id, accepted.message_event_id
    reads: list[Callable[[], Any]] = [
        lambda: read_overview(book, "room:main", 100),
        lambda: page(book, "room:main", before=50, limit=100),
        lambda: page(book, "room:main", after=1, limit=100),
        lambda: page(book, "room:main", around=1, limit=100),
        lambda: rows_after(book, 0, 100),
        lambda: rows_after(book, 0, 100, "room:main"),
        lambda: read_event(book, event_id),
        lambda: whole_text(book, event_id),
        lambda: said_after(book, "room:main", 1),
        lambda: context_usage(book, "room:main", 256_000),
        lambda: head_of_lane(book, "agent:a"),
        lambda: queued_counts(book),
        lambda: read_turn(book, turn_id),
        lambda: list_turns(book, room_id="room:main", selection="open"),
        lambda: native_session_to_resume(book, "agent:a", "room:main", "acp", "/w"),
        lambda: _packet(book, event_id),
    ]
    for read in reads:
        assert _scans(_plans(book, read)) == []


def test_every_durable_step_uses_an_index(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    steps: list[Callable[[], Any]] = [
        lambda: send(book, correlation_id="corr_known"),
        lambda: start(book, turn_id),
        lambda: end_turn(book, TurnEnd(turn_id, TurnStatus.COMPLETED, answer="x"), LIMITS, NOW),
        lambda: cancel_turn(book, turn_id, "k", LIMITS, NOW),
        lambda: recover(book, LIMITS, NOW),
        lambda: claim(book, turn_id),
    ]
    for step in steps:
        plans = {
            sql: plan
            for sql, plan in _plans(book, step).items()
            if "count(*) FROM client_commands" not in sql  # the test's own helper
        }
        assert _scans(plans) == []


def test_every_step_of_a_call_uses_an_index(book: sqlite3.Connection) -> None:
    start(book, send(book).reply.turns[0].turn_id)
    called = placed(book, "ask")
    reply, turn = called.reply, called.turn
    budget = Limits(tokens_per_root=10)
    head = head_of_lane(book, "agent:b")
    assert head is not None
    steps: list[Callable[[], Any]] = [
        lambda: call(book, "ask", limits=budget),
        lambda: call(book, limits=Limits(hop_count=0)),
        lambda: call(book, limits=Limits(hop_count=0)),
        lambda: correlation_of_call(book, caller(), turn, reply.message_event_id),
        lambda: are_all_ended(book, reply.message_event_id),
        lambda: is_working(book, turn.turn_id),
        lambda: read_outcomes(book, reply.message_event_id),
        lambda: require_correlation(book, turn.correlation_id, "room:main"),
        lambda: events_of(book, turn.correlation_id, 0, 100, ["message.created"]),
        lambda: turns_of(book, turn.correlation_id),
        lambda: children_of(book, turn.turn_id),
        lambda: read_told(book, reply.message_event_id, "room:main"),
        lambda: pending_stops(book, turn.correlation_id),
        lambda: grant(book, turn.correlation_id, "room:main", NOW),
        lambda: end_over_budget(book, head, "agent:b", budget, NOW),
        lambda: cancel_turn(book, turn.turn_id, "all", LIMITS, NOW),
    ]
    for step in steps:
        plans = {
            sql: plan
            for sql, plan in _plans(book, step).items()
            if "count(*) FROM client_commands" not in sql  # the test's own helper
        }
        assert plans
        assert _scans(plans) == []


@pytest.mark.parametrize(
    ("scope", "table"),
    [
        (("room:main", None, None), "usage_totals"),
        ((None, "corr_1", None), "turns USING INDEX"),
        ((None, None, "agent:a"), "usage_totals"),
        ((None, None, None), "usage_totals"),
    ],
)
def test_usage_is_summed_without_looking_at_every_turn(
    book: sqlite3.Connection, scope: tuple[str | None, str | None, str | None], table: str
) -> None:
    steps = [
        step for plan in _plans(book, lambda: read_usage(book, *scope)).values() for step in plan
    ]
    assert any(table in step for step in steps), steps
    assert not any(step.startswith("SCAN turns") for step in steps)


def test_watching_and_steering_use_an_index(book: sqlite3.Connection) -> None:
    accepted = watched(book)
    (turn,) = accepted.turns
    assert accepted.supervision is not None
    (observer,) = accepted.supervision.observers
    start(book, turn.turn_id)
    start(book, observer.turn_id, "b")
    eye = caller("b")
    watching = require_watch(book, eye, None)
    snapshot = read_snapshot(book, watching, Seen())
    step = Step(9, "content", NOW, chars=9)

    def steer(number: str, action: Action, live: str | None = None) -> SteerPlaced:
        asked = Steer(eye, number, action, "why", "what", turn.turn_id, live)
        placed_ = place_steer(book, asked, LIMITS, NOW)
        assert isinstance(placed_, SteerPlaced)
        return placed_

    def advised(number: str, *, is_live: bool) -> str:
        advice = TurnAdvice(turn.turn_id, f"advice {number}", "what", Source(), is_live)
        return place_advice(book, advice, LIMITS, NOW).message_event_id

    live = steer("0", "nudge", turn.turn_id).steered.message_event_id or ""
    said = advised("0", is_live=True)
    steps: list[Callable[[], Any]] = [
        lambda: watched(book),
        lambda: require_watch(book, eye, None),
        lambda: first_seen(book, watching),
        lambda: has_news(book, turn.turn_id, 0),
        lambda: has_ended(book, turn.turn_id),
        lambda: read_snapshot(book, watching, Seen(0, 1)),
        lambda: record_look(book, eye, snapshot, "terminal", False, NOW),
        lambda: note_steps(book, turn.turn_id, [step]),
        lambda: steer("1", "nudge", turn.turn_id),
        lambda: delivery_of(book, live),
        lambda: settle_nudge(book, live, "queued", NOW),
        lambda: advised("1", is_live=True),
        lambda: advised("2", is_live=False),
        lambda: advice_state(book, said),
        lambda: settle_advice(book, said, "queued", NOW),
        lambda: settle_left_advice(book, NOW),
        lambda: steer("2", "interrupt"),
        lambda: end_turn(book, TurnEnd(turn.turn_id, TurnStatus.CANCELLED), LIMITS, NOW),
        lambda: settle_left_nudges(book, NOW),
    ]
    for act in steps:
        plans = {
            sql: plan
            for sql, plan in _plans(book, act).items()
            if "count(*) FROM client_commands" not in sql  # the test's own helper
        }
        assert plans
        assert _scans(plans) == []


def test_no_index_is_the_beginning_of_another(book: sqlite3.Connection) -> None:
    tables = book.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = []
    for (table,) in tables:
        whole = {
            name: _columns_of(book, name)
            for _, name, is_unique, _, is_partial in book.execute(f"PRAGMA index_list({table})")
            if not is_partial and not (is_unique and name.startswith("sqlite_autoindex"))
        }
        found += [
            f"{one} is the beginning of {other}"
            for one, columns in whole.items()
            for other, longer in whole.items()
            if one != other and longer[: len(columns)] == columns
        ]
    assert found == []


def _columns_of(book: sqlite3.Connection, index: str) -> list[tuple[str, int]]:
    """Columns of an index and their direction."""
    rows = book.execute(f"PRAGMA index_xinfo({index})").fetchall()
    return [(name, is_descending) for _, _, name, is_descending, _, is_key in rows if is_key]
