"""What became of a message: the turns it caused, how far each is, and their answers.

The turns are found by the message (`turns.source_event_id`, a prefix of a unique index), so
asking again, also after a restart of the server, finds exactly the same ones and creates nothing.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

import orjson

from groupx_server.ledger.callers import Caller, CallerTurn
from groupx_server.ledger.turns import OPEN_SQL, lane_ahead
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.bodies import TERMINAL_STATUSES

MAX_TURNS: Final = 64
"""A message has at most 32 targets."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An agent's answer: its event, and the text as the event holds it."""

    event_id: str
    seq: int
    content: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One turn of a message. `status` is the turn's own; `answer` only when it completed."""

    turn_id: str
    actor_id: str
    actor_name: str
    status: str
    queue_position: int
    active_turn_id: str | None
    error_code: str | None
    error_message: str | None
    answer: Answer | None

    @property
    def has_ended(self) -> bool:
        return self.status in TERMINAL_STATUSES


def correlation_of_call(
    connection: sqlite3.Connection, caller: Caller, turn: CallerTurn, event_id: str
) -> str:
    """The root of a message that the caller may collect: one of its own root, or its own one.

    Raises: RefusedError (UNKNOWN_TARGET).
    """
    row = connection.execute(
        "SELECT room_id, correlation_id, actor_id FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    is_known = row is not None and row[0] == caller.room_id
    if not is_known or (caller.actor_id != row[2] and turn.correlation_id != row[1]):
        raise RefusedError(
            f"“{safe_line(event_id, 80)}” is no message of yours in this room, nor one of what you "
            "work on. Use the messageEventId that “ask” or “send” gave you.",
            code=ErrorCode.UNKNOWN_TARGET,
        )
    return str(row[1])


def are_all_ended(connection: sqlite3.Connection, event_id: str) -> bool:
    """True when no turn of the message is open."""
    row = connection.execute(
        f"SELECT 1 FROM turns WHERE source_event_id = ? AND status IN {OPEN_SQL} LIMIT 1",
        (event_id,),
    ).fetchone()
    return row is None


def is_working(connection: sqlite3.Connection, turn_id: str) -> bool:
    """True while a turn runs and is not being cancelled."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE turn_id = ? AND status IN ('dispatching', 'running')",
        (turn_id,),
    ).fetchone()
    return row is not None


def read_outcomes(connection: sqlite3.Connection, event_id: str) -> list[Outcome]:
    """The turns of a message, in the order in which it named their agents."""
    rows = connection.execute(
        "SELECT t.turn_id, t.target_actor_id, a.display_name, t.status, t.enqueue_seq,"
        " t.error_code, t.error_message, t.response_event_id FROM turns t"
        " JOIN actors a ON a.actor_id = t.target_actor_id WHERE t.source_event_id = ? LIMIT ?",
        (event_id, MAX_TURNS),
    ).fetchall()
    rows.sort(key=lambda row: row[4])
    return [_outcome(connection, row) for row in rows]


def _outcome(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Outcome:
    turn_id, actor_id, name, status, enqueue_seq, code, message, response_id = row
    position, active = 0, None
    if status not in TERMINAL_STATUSES:
        position, active = lane_ahead(connection, actor_id, enqueue_seq)
    return Outcome(
        turn_id,
        actor_id,
        name,
        status,
        position,
        active,
        code,
        message,
        None if response_id is None else _answer(connection, response_id),
    )


def _answer(connection: sqlite3.Connection, event_id: str) -> Answer | None:
    row = connection.execute(
        "SELECT seq, body_json FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    if row is None:
        return None
    return Answer(event_id, int(row[0]), str(orjson.loads(row[1]).get("content", "")))
