"""An agent's days: which turns go into them, and how far they were written down (seed §6.3).

`agent_dated_memory_sources` has one row for each completed turn, written with its end;
`agent_dated_memory_rollups` one row for each agent, room and local day, with what waits and when it
may be tried. Both hold ids and counts only; the texts are the events'. At most one dated record of
a day is active, replaced by compare-and-set.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence


def reopen_days(
    connection: sqlite3.Connection,
    event_ids: Sequence[str],
    drop: Callable[[str], None],
    now: str,
) -> int:
    """Days that were written from one of these events are to be written anew: `drop` is given
    their records, and all their turns wait again. Return how many days."""
    marks = ", ".join("?" * len(event_ids))
    days = connection.execute(
        "SELECT DISTINCT room_id, actor_id, local_date FROM agent_dated_memory_sources"
        f" WHERE source_event_id IN ({marks}) OR response_event_id IN ({marks})",
        (*event_ids, *event_ids),
    ).fetchall()
    for day in days:
        records = connection.execute(
            "SELECT memory_id FROM agent_dated_memory_sources WHERE room_id = ? AND actor_id = ?"
            " AND local_date = ? AND memory_id IS NOT NULL UNION SELECT memory_id"
            " FROM agent_dated_memory_rollups WHERE room_id = ? AND actor_id = ?"
            " AND local_date = ? AND memory_id IS NOT NULL",
            (*day, *day),
        ).fetchall()
        if not records:
            continue
        for (memory_id,) in records:
            drop(memory_id)
        _wait_again(connection, day, now)
    return len(days)


def _wait_again(connection: sqlite3.Connection, day: tuple[str, str, str], now: str) -> None:
    connection.execute(
        "UPDATE agent_dated_memory_sources SET processed_at = NULL, memory_id = NULL"
        " WHERE room_id = ? AND actor_id = ? AND local_date = ?",
        day,
    )
    connection.execute(
        "UPDATE agent_dated_memory_rollups SET memory_id = NULL, summarized_through_seq = 0,"
        " (pending_turns, pending_chars, pending_through_seq, first_pending_at, last_pending_at) ="
        " (SELECT count(*), sum(source_chars), max(response_seq), min(terminal_at),"
        " max(terminal_at) FROM agent_dated_memory_sources s WHERE s.room_id = ?1"
        " AND s.actor_id = ?2 AND s.local_date = ?3), failure_count = 0, next_attempt_at = NULL,"
        " updated_at = ?4 WHERE room_id = ?1 AND actor_id = ?2 AND local_date = ?3",
        (*day, now),
    )
