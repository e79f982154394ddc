"""Turns whose agent keeps a record of its own: what it says, written as the turn's one end.

Only a record that is provably of this very turn counts. What it does not tell stays unknown; a
certainty that is on disk never falls back.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import TerminalEvent, TurnCompleted, TurnFailed
from groupx_server.domain.turn import Certainty, TurnStatus
from groupx_server.ledger.recovery import interrupt, kept_answer
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import OPEN_OF_ACTOR, OPEN_SQL
from groupx_shared.text import safe_line, safe_text


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """An attempt of an earlier server that its agent may know about."""

    turn_id: str
    attempt_id: str
    room_id: str
    source_event_id: str
    native_session_id: str
    native_turn_id: str | None
    certainty: str


def left_open(connection: sqlite3.Connection, actor_id: str) -> list[LeftOpen]:
    """The agent's attempts that an earlier server left open, oldest first."""
    rows = connection.execute(
        "SELECT t.turn_id, a.attempt_id, t.room_id, t.source_event_id, b.native_session_id,"
        f" a.native_turn_id, a.delivery_certainty FROM turns t {OPEN_OF_ACTOR}"
        " JOIN turn_attempts a ON a.turn_id = t.turn_id AND a.terminal_at IS NULL"
        " JOIN session_bindings b ON b.binding_id = a.binding_id"
        f" WHERE t.target_actor_id = ? AND t.status IN {OPEN_SQL} AND t.status <> 'queued'"
        " AND b.native_session_id IS NOT NULL ORDER BY t.enqueue_seq",
        (actor_id,),
    )
    return [LeftOpen(*row) for row in rows]


def settle_recalled(
    connection: sqlite3.Connection,
    turn: LeftOpen,
    was_found: bool,
    end: TerminalEvent | None,
    limits: Limits,
    now: str,
) -> None:
    """Write the end that the agent's record tells; `interrupted` when it does not tell one."""
    if was_found:
        connection.execute(
            "UPDATE turn_attempts SET delivery_certainty = 'delivered', dispatch_phase ="
            " 'native_started', started_at = COALESCE(started_at, ?) WHERE attempt_id = ?",
            (now, turn.attempt_id),
        )
    certainty = Certainty.DELIVERED.value if was_found else turn.certainty
    if isinstance(end, TurnCompleted):
        answer = safe_text(end.content or "") or kept_answer(connection, turn.turn_id)
        done = TurnEnd(
            turn.turn_id, TurnStatus.COMPLETED, answer=answer, reconciliation="told_by_agent"
        )
        end_turn(connection, done, limits, now)
    elif isinstance(end, TurnFailed):
        failed = TurnEnd(
            turn.turn_id,
            TurnStatus.FAILED,
            answer=kept_answer(connection, turn.turn_id),
            error_code=end.code,
            error_message=safe_line(end.message, 1024),
            reconciliation="told_by_agent",
        )
        end_turn(connection, failed, limits, now)
    else:
        how = "found_unfinished" if was_found else "not_found"
        interrupt(connection, turn.turn_id, certainty, limits, now, how)
