"""Steps of watched turns on disk, and how far each observer has seen them.

A step is written with what it tells of: the start and the end in the turn's own transactions, the
others with the pieces of the answer. So an observer that looks again, also after a lost answer,
finds every step; there is no moment to miss.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from groupx_server.domain.steps import STARTED_NUMBER, Step
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.pairs import is_watched


@dataclass(frozen=True, slots=True)
class Seen:
    """How far an observer has seen a turn: its last step, and the last seq of the root."""

    step: int = 0
    seq: int = 0


def note_start(connection: sqlite3.Connection, turn_id: str, now: str) -> None:
    """Write the start of a turn, if somebody watches it."""
    if is_watched(connection, turn_id):
        _insert(connection, turn_id, [Step(STARTED_NUMBER, "turn.started", now)])


def note_steps(connection: sqlite3.Connection, turn_id: str, steps: Sequence[Step]) -> None:
    """Write steps; those that are there already stay."""
    _insert(connection, turn_id, steps)
    failpoint("steps.before_commit")


def note_end(
    connection: sqlite3.Connection, turn_id: str, steps: Sequence[Step], status: str, now: str
) -> None:
    """Write what is left of a turn's steps and its end, if somebody watches it."""
    if not is_watched(connection, turn_id):
        return
    _insert(connection, turn_id, steps)
    last = newest_step(connection, turn_id)
    _insert(connection, turn_id, [Step(last + 1, "turn.ended", now, status=status)])


def newest_step(connection: sqlite3.Connection, turn_id: str) -> int:
    """Number of the turn's last step; 0 when it has none."""
    (number,) = connection.execute(
        "SELECT COALESCE(MAX(number), 0) FROM watched_steps WHERE turn_id = ?", (turn_id,)
    ).fetchone()
    return int(number)


def steps_after(
    connection: sqlite3.Connection, turn_id: str, number: int, limit: int
) -> list[Step]:
    """The turn's steps after a number, oldest first."""
    cursor = connection.execute(
        "SELECT number, kind, at, tool_call_id, tool, status, chars FROM watched_steps"
        " WHERE turn_id = ? AND number > ? ORDER BY number LIMIT ?",
        (turn_id, number, limit),
    )
    return [Step(*row) for row in cursor]


def seen_by(connection: sqlite3.Connection, watch_turn_id: str, subject_turn_id: str) -> Seen:
    """How far this observer has seen that turn."""
    row = connection.execute(
        "SELECT step, seq FROM watch_cursors WHERE watch_turn_id = ? AND subject_turn_id = ?",
        (watch_turn_id, subject_turn_id),
    ).fetchone()
    return Seen() if row is None else Seen(*row)


def keep_seen(
    connection: sqlite3.Connection,
    watch_turn_id: str,
    subject_turn_id: str,
    seen: Seen,
    now: str,
) -> None:
    """Move the cursor on, never back."""
    connection.execute(
        "INSERT INTO watch_cursors(watch_turn_id, subject_turn_id, step, seq, updated_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT(watch_turn_id, subject_turn_id) DO UPDATE SET"
        " step = MAX(step, excluded.step), seq = MAX(seq, excluded.seq),"
        " updated_at = excluded.updated_at",
        (watch_turn_id, subject_turn_id, seen.step, seen.seq, now),
    )


def _insert(connection: sqlite3.Connection, turn_id: str, steps: Sequence[Step]) -> None:
    connection.executemany(
        "INSERT INTO watched_steps(turn_id, number, kind, at, tool_call_id, tool, status, chars)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(turn_id, number) DO NOTHING",
        [
            (turn_id, s.number, s.kind, s.at, s.tool_call_id, s.tool, s.status, s.chars)
            for s in steps
        ],
    )
