"""What turns cost: sums by agent, room and root, of whatever agents told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger import usage as usage_module
from groupx_server.ledger.migrate import load_migrations
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.upkeepcosts import Cost, note_cost
from groupx_server.ledger.usage import read_usage, spent_tokens
from support.transactions import LIMITS, NOW, open_book, placed, send, start


@pytest.fixture
def book(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = open_book(tmp_path)
    yield connection
    connection.close()


def ended(book: sqlite3.Connection, turn_id: str, name: str, **usage: object) -> None:
    start(book, turn_id, name)
    end = TurnEnd(turn_id, TurnStatus.COMPLETED, answer="x", usage=usage)
    end_turn(book, end, LIMITS, NOW)


def test_tokens_and_money_are_summed_by_agent_and_in_all(book: sqlite3.Connection) -> None:
    root = send(book, to=("a",)).reply
    start(book, root.turns[0].turn_id)
    child = placed(book).reply.turns[0].turn_id
    ended(book, child, "b", inputTokens=100, outputTokens=10, costAmount=0.5, costCurrency="USD")
    silent = send(book, to=("b",)).reply
    ended(book, silent.turns[0].turn_id, "b")
    usage = {"totalTokens": 7, "costAmount": 0.25, "costCurrency": "USD", "cachedTokens": 3}
    end = TurnEnd(root.turns[0].turn_id, TurnStatus.COMPLETED, answer="x", usage=usage)
    end_turn(book, end, LIMITS, NOW)

    found = read_usage(book, None, root.correlation_id, None)
    assert [actor.actor_id for actor in found.actors] == ["agent:b", "agent:a"]
    assert (found.totals.turns, found.totals.reported_turns) == (2, 2)
    assert (found.totals.total_tokens, found.totals.cached_tokens) == (117, 3)
    assert found.totals.costs == {"USD": 0.75}
    assert spent_tokens(book, root.correlation_id) == 117

    room = read_usage(book, "room:main", None, None).totals
    assert (room.turns, room.reported_turns, room.total_tokens) == (3, 2, 117)
    only_b = read_usage(book, "room:main", None, "agent:b").totals
    assert (only_b.turns, only_b.total_tokens) == (2, 110)


def test_kept_sums_are_those_of_the_turns(book: sqlite3.Connection) -> None:
    """Of turns that were told nothing, tokens only, money in one currency or in another."""
    told: list[dict[str, object]] = [
        {},
        {"inputTokens": 5, "outputTokens": 2},
        {"totalTokens": 9, "thoughtTokens": 4},
        {"costAmount": 0.5},
        {"costAmount": 1, "costCurrency": "USD"},
        {"costAmount": 2, "costCurrency": "EUR", "cachedTokens": 3},
    ]
    for number, usage in enumerate(told * 2):
        name = "ab"[number % 2]
        ended(book, send(book, to=(name,)).reply.turns[0].turn_id, name, **usage)
    send(book, to=("a",))
    kept = book.execute("SELECT * FROM usage_totals ORDER BY 1, 2, 3").fetchall()
    fill = next(step for step in load_migrations() if step.name == "usage_totals")
    book.execute("DROP TABLE usage_totals")
    for statement in fill.statements():
        book.execute(statement)
    assert book.execute("SELECT * FROM usage_totals ORDER BY 1, 2, 3").fetchall() == kept
    everything = read_usage(book, None, None, None).totals
    assert (everything.turns, everything.reported_turns) == (13, 10)
    assert everything.costs == {"": 1.0, "USD": 2.0, "EUR": 4.0}


def test_currencies_are_not_added_up(book: sqlite3.Connection) -> None:
    for currency in ("USD", "EUR"):
        turn_id = send(book).reply.turns[0].turn_id
        ended(book, turn_id, "a", costAmount=1, costCurrency=currency)
    assert read_usage(book, None, None, "agent:a").totals.costs == {"USD": 1.0, "EUR": 1.0}


def test_an_unknown_scope_costs_nothing_and_no_scope_is_everything(
    book: sqlite3.Connection,
) -> None:
    ended(book, send(book).reply.turns[0].turn_id, "a", totalTokens=5)
    assert read_usage(book, None, "corr_none", None).totals.turns == 0
    assert read_usage(book, None, None, None).totals.total_tokens == 5


def test_what_agents_tell_is_kept_as_they_tell_it(book: sqlite3.Connection) -> None:
    turn_id = send(book).reply.turns[0].turn_id
    ended(book, turn_id, "a", inputTokens=1, contextUsed=5)
    (text,) = book.execute("SELECT usage_json FROM turns").fetchone()
    assert orjson.loads(text) == {"inputTokens": 1, "contextUsed": 5}


def test_roots_are_those_of_the_newest_turns(
    book: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_module, "ROOT_TURNS", 2)
    roots = []
    for number, name in enumerate("aaba"):
        sent = send(book, f"m{number}", to=(name,)).reply
        ended(book, sent.turns[0].turn_id, name, totalTokens=number + 1)
        roots.append(sent.correlation_id)
    for room_id in ("room:main", None):
        found = read_usage(book, room_id, None, None, by="root")
        assert [group.key for group in found.groups] == [roots[3], roots[2]]
        assert found.totals.total_tokens == 10
    only = read_usage(book, None, None, "agent:a", by="root").groups
    assert [(group.key, group.total_tokens) for group in only] == [(roots[3], 4)]
    assert [g.key for g in read_usage(book, None, roots[0], None, by="root").groups] == [roots[0]]


def test_texts_for_the_rooms_are_summed_by_purpose_with_the_last_time_and_are_no_turns(
    book: sqlite3.Connection,
) -> None:
    told = {"totalTokens": 40, "costAmount": 0.5, "costCurrency": "USD"}
    for purpose, actor, usage, at in (
        ("summary", "agent:a", told, "2026-01-01T00:00:00.000Z"),
        ("summary", "agent:a", {}, "2026-01-03T00:00:00.000Z"),
        ("dated", "agent:a", told, "2026-01-02T00:00:00.000Z"),
        ("summary", "agent:b", told, "2026-01-09T00:00:00.000Z"),
    ):
        note_cost(book, Cost(purpose, "room:main", actor, usage), at)
    found = read_usage(book, None, None, "agent:a")
    assert found.totals.turns == 0
    parts = {part.key: part for part in found.upkeep}
    summary = parts["summary"]
    assert (summary.turns, summary.reported_turns, summary.total_tokens) == (2, 1, 40)
    assert (summary.costs, summary.last_at) == ({"USD": 0.5}, "2026-01-03T00:00:00.000Z")
    assert parts["dated"].last_at == "2026-01-02T00:00:00.000Z"
