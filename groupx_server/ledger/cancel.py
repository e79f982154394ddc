"""Cancelling a turn: ended at once while it waits, marked `cancelling` while an agent has it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_server.domain.command import canonical_hash
from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TERMINAL, TurnStatus
from groupx_server.ledger.commands import find_receipt, store_receipt
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import unknown_turn
from groupx_shared.ids import BINDING_LOCAL
from groupx_shared.wire.replies import CancelReply

COMMAND = "turn.cancel"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The reply, and the agent whose running turn has to be told (None: nothing runs)."""

    reply: CancelReply
    actor_id: str
    room_id: str
    correlation_id: str
    tell_agent: bool


def cancel_turn(
    connection: sqlite3.Connection,
    turn_id: str,
    client_command_id: str,
    limits: Limits,
    now: str,
    binding_id: str = BINDING_LOCAL,
) -> Cancelled:
    """Cancel, idempotently. Raises: RefusedError (UNKNOWN_TURN, CLIENT_COMMAND_CONFLICT)."""
    command_hash = canonical_hash(COMMAND, {"turnId": turn_id})
    stored = find_receipt(connection, binding_id, client_command_id, COMMAND, command_hash)
    row = connection.execute(
        "SELECT status, target_actor_id, room_id, root_correlation_id FROM turns WHERE turn_id = ?",
        (turn_id,),
    ).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    status, where = TurnStatus(row[0]), (str(row[1]), str(row[2]), str(row[3]))
    if stored is not None:
        reply = CancelReply.model_validate(stored)
        return Cancelled(reply, *where, status is TurnStatus.CANCELLING)
    reply = _apply(connection, turn_id, status, limits, now)
    result = reply.model_dump(mode="json", by_alias=True)
    store_receipt(connection, binding_id, client_command_id, COMMAND, command_hash, result, now)
    failpoint("cancel.before_commit")
    return Cancelled(reply, *where, reply.status == "cancelling")


def _apply(
    connection: sqlite3.Connection, turn_id: str, status: TurnStatus, limits: Limits, now: str
) -> CancelReply:
    if status in TERMINAL:
        return CancelReply(turn_id=turn_id, accepted=False, status=status.value)
    if status is TurnStatus.QUEUED:
        end_turn(connection, TurnEnd(turn_id, TurnStatus.CANCELLED), limits, now)
        return CancelReply(turn_id=turn_id, accepted=True, status="cancelled")
    connection.execute(
        "UPDATE turns SET status = 'cancelling' WHERE turn_id = ?"
        " AND status IN ('dispatching', 'running')",
        (turn_id,),
    )
    return CancelReply(turn_id=turn_id, accepted=True, status="cancelling")
