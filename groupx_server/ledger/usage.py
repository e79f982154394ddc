"""What turns cost, as far as agents tell: sums over the turns of a room, a root or an agent.

Each turn keeps what its agent told (`turns.usage_json`). Sums by room and agent are kept in
`usage_totals`, which is written with each turn; those of roots are made from their turns, of which
one root has few. A list of roots looks at the newest turns only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

from groupx_shared.wire.replies import (
    ActorUsage,
    EmbeddingUsage,
    GroupUsage,
    UsageReply,
    UsageTotals,
)

UsageGroup = Literal["agent", "room", "root"]
GROUPS: Final[dict[UsageGroup, str]] = {
    "agent": "target_actor_id",
    "room": "room_id",
    "root": "root_correlation_id",
}
MAX_GROUPS: Final = 100
ROOT_TURNS: Final = 5_000
"""Turns whose roots are listed, the newest: weeks of work, and 50 ms. With every turn of a long
room the list took seconds."""
Part = TypeVar("Part", bound=UsageTotals)

TOTAL_SQL: Final = (
    "COALESCE(json_extract(usage_json, '$.totalTokens'),"
    " COALESCE(json_extract(usage_json, '$.inputTokens'), 0)"
    " + COALESCE(json_extract(usage_json, '$.outputTokens'), 0))"
)
_SUMS: Final = ", ".join(
    f"COALESCE(SUM(json_extract(usage_json, '$.{key}')), 0)"
    for key in ("inputTokens", "outputTokens", "cachedTokens", "thoughtTokens")
)
_COUNTS: Final = ", ".join(
    f"COALESCE(json_extract(usage_json, '$.{key}'), 0)"
    for key in ("inputTokens", "outputTokens", "cachedTokens", "thoughtTokens")
)
_FIELDS: Final = ("input_tokens", "output_tokens", "cached_tokens", "thought_tokens")
_ADDED: Final = ("total_tokens", *_FIELDS)
_ADD: Final = (
    "INSERT INTO usage_totals(room_id, actor_id, currency, reported_turns,"
    f" {', '.join(_ADDED)}, cost)"
    " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT(room_id, actor_id, currency) DO UPDATE SET"
    " reported_turns = reported_turns + 1,"
    f" {', '.join(f'{name} = {name} + excluded.{name}' for name in _ADDED)},"
    " cost = COALESCE(cost + excluded.cost, cost, excluded.cost)"
)


def spent_tokens(connection: sqlite3.Connection, correlation_id: str) -> int:
    """Tokens of all ended turns of a root."""
    row = connection.execute(
        f"SELECT COALESCE(SUM({TOTAL_SQL}), 0) FROM turns WHERE root_correlation_id = ?",
        (correlation_id,),
    ).fetchone()
    return int(row[0])


def count_turn(connection: sqlite3.Connection, room_id: str, actor_id: str) -> None:
    """Count a new turn in the kept sums."""
    connection.execute(
        "INSERT INTO usage_totals(room_id, actor_id, currency, turns) VALUES (?, ?, '', 1)"
        " ON CONFLICT(room_id, actor_id, currency) DO UPDATE SET turns = turns + 1",
        (room_id, actor_id),
    )


def add_usage(connection: sqlite3.Connection, turn_id: str) -> None:
    """Add what an ended turn's agent told to the kept sums; once for a turn."""
    row = connection.execute(
        f"SELECT room_id, target_actor_id, json_extract(usage_json, '$.costCurrency'), {TOTAL_SQL},"
        f" {_COUNTS}, json_extract(usage_json, '$.costAmount') FROM turns WHERE turn_id = ?",
        (turn_id,),
    ).fetchone()
    room_id, actor_id, currency, *counts, cost = row
    connection.execute(_ADD, (room_id, actor_id, currency or "", *counts, cost))


def read_usage(
    connection: sqlite3.Connection,
    room_id: str | None,
    correlation_id: str | None,
    actor_id: str | None,
    by: UsageGroup = "agent",
    limit: int = MAX_GROUPS,
) -> UsageReply:
    """The sums over the turns that fit all that is given; over all turns when nothing is."""
    scope = {
        "root_correlation_id": correlation_id,
        "room_id": room_id,
        "target_actor_id": actor_id,
    }
    given = {column: value for column, value in scope.items() if value is not None}
    agents = _sums_by(connection, "target_actor_id", given)
    others = agents if by == "agent" else _sums_by(connection, GROUPS[by], given)
    actors = _sorted([ActorUsage(actor_id=key, **sums) for key, sums in agents.items()])
    groups = _sorted([GroupUsage(key=key, **sums) for key, sums in others.items()])
    return UsageReply(
        totals=_total(actors),
        actors=tuple(actors),
        groups=tuple(groups[:limit]),
        upkeep=() if correlation_id else _upkeep(connection, room_id, actor_id),
        embeddings=() if given else _embeddings(connection),
    )


def _embeddings(connection: sqlite3.Connection) -> tuple[EmbeddingUsage, ...]:
    rows = connection.execute(
        "SELECT model, purpose, SUM(calls), SUM(failed), SUM(texts), SUM(chars)"
        " FROM embedding_calls GROUP BY model, purpose ORDER BY MAX(day) DESC, model, purpose"
    )
    return tuple(
        EmbeddingUsage(
            model=row[0], purpose=row[1], calls=row[2], failed=row[3], texts=row[4], chars=row[5]
        )
        for row in rows
    )


def _upkeep(
    connection: sqlite3.Connection, room_id: str | None, actor_id: str | None
) -> tuple[GroupUsage, ...]:
    """What texts for the server cost, which belong to no turn."""
    scope = {"room_id": room_id, "actor_id": actor_id}
    given = {column: value for column, value in scope.items() if value is not None}
    found = _sums_by(connection, "purpose", given, "upkeep_costs")
    where = " AND ".join(f"{name} = ?" for name in given) or "1"
    last = dict(
        connection.execute(
            f"SELECT purpose, MAX(occurred_at) FROM upkeep_costs WHERE {where} GROUP BY 1",
            tuple(given.values()),
        ).fetchall()
    )
    parts = [GroupUsage(key=key, last_at=last[key], **sums) for key, sums in found.items()]
    return tuple(_sorted(parts))


_KEPT: Final = {"target_actor_id": "actor_id", "room_id": "room_id"}
"""Columns of `turns` by which `usage_totals` has sums, and their names there."""


def _sums_by(
    connection: sqlite3.Connection, column: str, given: dict[str, str], table: str = "turns"
) -> dict[str, dict[str, Any]]:
    if table == "turns" and {column, *given} <= _KEPT.keys():
        return _kept_sums(connection, column, given)
    where = " AND ".join(f"{name} = ?" for name in given) or "1"
    values: tuple[Any, ...] = tuple(given.values())
    if column == GROUPS["root"] and column not in given:
        where, values = _newest(connection, given)
    found: dict[str, dict[str, Any]] = {}
    for row in connection.execute(
        f"SELECT {column}, json_extract(usage_json, '$.costCurrency'), count(*),"
        f" count(usage_json), SUM({TOTAL_SQL}), {_SUMS},"
        f" SUM(json_extract(usage_json, '$.costAmount'))"
        f" FROM {table} WHERE {where} GROUP BY 1, 2",
        values,
    ):
        _add(found.setdefault(row[0], {"costs": {}}), row[1:])
    return found


def _newest(connection: sqlite3.Connection, given: dict[str, str]) -> tuple[str, tuple[Any, ...]]:
    """The condition for the newest turns of the room, or of all, that fit what is given."""
    room = {"room_id": given["room_id"]} if "room_id" in given else {}
    row = connection.execute(
        f"SELECT enqueue_seq FROM turns {'WHERE room_id = ?' if room else ''}"
        " ORDER BY enqueue_seq DESC LIMIT 1 OFFSET ?",
        (*room.values(), ROOT_TURNS - 1),
    ).fetchone()
    # A plus keeps SQLite from an index over all turns of the agent.
    others = [f"+{name} = ?" for name in given if name not in room]
    clauses = [*(f"{name} = ?" for name in room), "enqueue_seq >= ?", *others]
    rest = (value for name, value in given.items() if name not in room)
    return " AND ".join(clauses), (*room.values(), 0 if row is None else row[0], *rest)


def _kept_sums(
    connection: sqlite3.Connection, column: str, given: dict[str, str]
) -> dict[str, dict[str, Any]]:
    where = " AND ".join(f"{_KEPT[name]} = ?" for name in given) or "1"
    names = ("turns", "reported_turns", "total_tokens", *_FIELDS, "cost")
    sums = ", ".join(f"SUM({name})" for name in names)
    found: dict[str, dict[str, Any]] = {}
    for row in connection.execute(
        f"SELECT {_KEPT[column]}, currency, {sums} FROM usage_totals WHERE {where} GROUP BY 1, 2",
        tuple(given.values()),
    ):
        _add(found.setdefault(row[0], {"costs": {}}), row[1:])
    return found


def _sorted(parts: list[Part]) -> list[Part]:
    """Most tokens first."""
    return sorted(parts, key=lambda part: (-part.total_tokens, str(part)))


def _add(sums: dict[str, Any], row: tuple[Any, ...]) -> None:
    currency, turns, reported, total, *counts, cost = row
    numbers = {"turns": turns, "reported_turns": reported, "total_tokens": total}
    for name, value in {**numbers, **dict(zip(_FIELDS, counts, strict=True))}.items():
        sums[name] = sums.get(name, 0) + int(value or 0)
    if cost is not None:
        name = str(currency or "")
        sums["costs"][name] = round(sums["costs"].get(name, 0.0) + float(cost), 6)


def _total(parts: Sequence[UsageTotals]) -> UsageTotals:
    sums: dict[str, Any] = {"costs": {}}
    for part in parts:
        for name in ("turns", "reported_turns", "total_tokens", *_FIELDS):
            sums[name] = sums.get(name, 0) + getattr(part, name)
        for currency, cost in part.costs.items():
            sums["costs"][currency] = round(sums["costs"].get(currency, 0.0) + cost, 6)
    return UsageTotals(**sums)
