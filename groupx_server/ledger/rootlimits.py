"""The limits of a root against what the ledger holds, before a message is accepted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from groupx_server.domain.causality import calls_in_a_row
from groupx_server.domain.limits import (
    Limits,
    check_budget,
    check_ping_pong,
    check_root,
    check_target,
    raised,
)
from groupx_server.ledger.stops import granted_to
from groupx_server.ledger.turns import OPEN_SQL
from groupx_server.ledger.usage import spent_tokens


def enforce_limits(
    connection: sqlite3.Connection,
    limits: Limits,
    *,
    correlation_id: str | None,
    hop_count: int,
    chain: Sequence[str],
    targets: Sequence[str],
) -> None:
    """Check a message for `targets`. `correlation_id` is None when it begins a root; `chain` is
    empty when a person sends it.

    Raises: RefusedError (HOP_LIMIT_REACHED, ROOT_TURN_LIMIT_REACHED, QUEUE_CAPACITY_REACHED,
    BUDGET_EXCEEDED) with `details.limitKind`.
    """
    if not targets:
        return
    root_turns = 0
    if correlation_id is not None:
        limits = raised(limits, granted_to(connection, correlation_id))
        root_turns = _count(connection, "root_correlation_id = ?", correlation_id)
    check_root(limits, hop_count=hop_count, root_turns=root_turns, added=len(targets))
    for target in targets:
        calls = 0
        if correlation_id is not None:
            clause = "root_correlation_id = ? AND target_actor_id = ?"
            calls = _count(connection, clause, correlation_id, target)
        waiting = _count(connection, f"target_actor_id = ? AND status IN {OPEN_SQL}", target)
        check_target(limits, target, root_calls=calls, open_turns=waiting)
        if chain:
            check_ping_pong(limits, chain[0], target, calls_in_a_row(chain, target))
    if chain and correlation_id is not None and limits.tokens_per_root:
        check_budget(limits, spent_tokens(connection, correlation_id))


def _count(connection: sqlite3.Connection, clause: str, *values: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM turns WHERE {clause}", values).fetchone()
    return int(row[0])
