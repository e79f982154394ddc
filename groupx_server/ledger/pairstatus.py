"""How pairs of observers and workers stand now; the counterpart that makes them is `pairs`."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from groupx_server.ledger.watches import steers_of


@dataclass(frozen=True, slots=True)
class PairedNow:
    """A turn of a pair. Of a worker: how often it was steered, and why the last time."""

    turn_id: str
    actor_id: str
    role: str
    status: str
    steer_count: int
    last_reason: str | None


@dataclass(frozen=True, slots=True)
class PairNow:
    """A pair with its turns, workers first, in the order in which they were queued."""

    pair_id: str
    room_id: str
    correlation_id: str
    mode: str
    created_at: str
    turns: Sequence[PairedNow]


def newest_pairs(
    connection: sqlite3.Connection, pair_id: str | None, correlation_id: str | None, limit: int
) -> list[PairNow]:
    """The newest pairs: of a root, this one, or all; at most `limit`."""
    wanted = [("pair_id = ?", pair_id), ("correlation_id = ?", correlation_id)]
    given = [(clause, value) for clause, value in wanted if value is not None]
    where = f" WHERE {' AND '.join(clause for clause, _ in given)}" if given else ""
    rows = connection.execute(
        "SELECT pair_id, room_id, correlation_id, mode, created_at FROM supervision_pairs"
        f"{where} ORDER BY rowid DESC LIMIT ?",
        (*(value for _, value in given), limit),
    ).fetchall()
    return [
        PairNow(pair, room, root, mode, at, _turns(connection, pair))
        for pair, room, root, mode, at in rows
    ]


def _turns(connection: sqlite3.Connection, pair_id: str) -> list[PairedNow]:
    rows = connection.execute(
        "SELECT p.turn_id, p.actor_id, p.role, t.status FROM supervision_pair_turns p"
        " JOIN turns t ON t.turn_id = p.turn_id WHERE p.pair_id = ?"
        " ORDER BY p.role = 'observer', t.enqueue_seq",
        (pair_id,),
    ).fetchall()
    return [
        PairedNow(turn, actor, role, status, *steers_of(connection, turn))
        for turn, actor, role, status in rows
    ]
