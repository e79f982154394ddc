"""What agents' texts for the server cost, one row for each, whatever became of the text."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Cost:
    """`purpose`: summary or dated; `usage` as the agent told it, empty when it told nothing."""

    purpose: str
    room_id: str
    actor_id: str
    usage: Mapping[str, Any]


def note_cost(connection: sqlite3.Connection, cost: Cost, now: str) -> None:
    """Keep what one text cost."""
    usage = orjson.dumps(dict(cost.usage)).decode() if cost.usage else None
    connection.execute(
        "INSERT INTO upkeep_costs(purpose, room_id, actor_id, usage_json, occurred_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (cost.purpose, cost.room_id, cost.actor_id, usage, now),
    )
