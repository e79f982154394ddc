"""The turn in which an agent calls a tool, as the ledger knows it.

A tool call says nothing of who makes it: its token names a binding, and the binding's one running
turn is looked up here, in the same snapshot or transaction as what the call does. So a call after
the turn's end, or of a session that was replaced, finds no turn.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.turns import OPEN_OF_ACTOR, OPEN_SQL
from groupx_shared.errors import ErrorCode, RefusedError

WORKING: Final = frozenset({"dispatching", "running"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose token it is: one agent's session in one room."""

    binding_id: str
    actor_id: str
    room_id: str


@dataclass(frozen=True, slots=True)
class CallerTurn:
    """The turn that the caller works on."""

    turn_id: str
    source_event_id: str
    correlation_id: str
    hop_count: int
    instance_id: str


def require_turn(connection: sqlite3.Connection, caller: Caller) -> CallerTurn:
    """The caller's running turn.

    Raises: RefusedError (MCP_BINDING_MISMATCH) when there is none, it is being cancelled, or the
    session is not the agent's present one.
    """
    row = connection.execute(
        "SELECT t.turn_id, t.source_event_id, t.root_correlation_id, t.hop_count, b.instance_id,"
        f" t.status FROM turns t {OPEN_OF_ACTOR}"
        " JOIN session_bindings b ON b.binding_id = t.binding_id"
        " JOIN agent_instances i ON i.instance_id = b.instance_id"
        f" WHERE t.target_actor_id = ? AND t.status IN {OPEN_SQL} AND t.status <> 'queued'"
        " AND t.binding_id = ? AND t.room_id = ? AND b.actor_id = t.target_actor_id"
        " AND b.status = 'ready' AND i.process_ended_at IS NULL ORDER BY t.enqueue_seq LIMIT 1",
        (caller.actor_id, caller.binding_id, caller.room_id),
    ).fetchone()
    if row is None or row[5] not in WORKING:
        found = "no running turn" if row is None else "a turn that is being cancelled"
        raise RefusedError(
            f"This session has {found}. Tools work only while you answer a message of the room: "
            "end here.",
            code=ErrorCode.MCP_BINDING_MISMATCH,
        )
    return CallerTurn(*row[:5])
