"""Cancelling a turn: ended at once while it waits, marked `cancelling` while an agent has it.

Turns that it asked for and waits for are cancelled with it, in the same transaction, and theirs
in turn; so are observers that have not begun and have nobody left to watch. What it only sent goes
on: nobody waits for that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from groupx_server.domain.command import canonical_hash
from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import TERMINAL, TurnStatus
from groupx_server.ledger.commands import find_receipt, store_receipt
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import OPEN_SQL, unknown_turn
from groupx_shared.ids import BINDING_LOCAL
from groupx_shared.wire.replies import CancelReply

COMMAND: Final = "turn.cancel"
MAX_ASKED: Final = 1_000
"""Turns cancelled with one; far more than a root has."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The reply, whose turn it is and where, and whether that agent has to be told."""

    reply: CancelReply
    actor_id: str
    room_id: str
    correlation_id: str
    tell_agent: bool
    asked: Sequence[Cancelled] = ()
    """The turns that were cancelled with it, of all depths."""


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
    turn = _read(connection, turn_id)
    if stored is not None:
        return turn.cancelled(CancelReply.model_validate(stored), turn.status)
    cancelled = _apply(connection, turn, limits, now)
    if cancelled.reply.accepted:
        asked = cancel_asked(connection, turn_id, limits, now)
        ended = [turn_id, *(each.reply.turn_id for each in asked)]
        asked += _cancel_idle_observers(connection, ended, limits, now)
        cancelled = replace(cancelled, asked=asked)
    result = cancelled.reply.model_dump(mode="json", by_alias=True)
    store_receipt(connection, binding_id, client_command_id, COMMAND, command_hash, result, now)
    failpoint("cancel.before_commit")
    return cancelled


def cancel_one(connection: sqlite3.Connection, turn_id: str, limits: Limits, now: str) -> Cancelled:
    """Cancel this turn alone, without a receipt. Raises: RefusedError (UNKNOWN_TURN)."""
    return _apply(connection, _read(connection, turn_id), limits, now)


def _read(connection: sqlite3.Connection, turn_id: str) -> _Turn:
    row = connection.execute(
        "SELECT status, target_actor_id, room_id, root_correlation_id FROM turns WHERE turn_id = ?",
        (turn_id,),
    ).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    return _Turn(turn_id, TurnStatus(row[0]), str(row[1]), str(row[2]), str(row[3]))


def cancel_asked(
    connection: sqlite3.Connection, turn_id: str, limits: Limits, now: str
) -> list[Cancelled]:
    """Cancel the open turns that this one asked for, and those that they asked for."""
    done: list[Cancelled] = []
    above = [turn_id]
    while above and len(done) < MAX_ASKED:
        rows = connection.execute(
            "SELECT turn_id, status, target_actor_id, room_id, root_correlation_id FROM turns"
            f" WHERE parent_turn_id = ? AND asked = 1 AND status IN {OPEN_SQL} LIMIT ?",
            (above.pop(), MAX_ASKED),
        ).fetchall()
        for row in rows:
            turn = _Turn(row[0], TurnStatus(row[1]), row[2], row[3], row[4])
            above.append(turn.turn_id)
            done.append(_apply(connection, turn, limits, now))
    return done


def _cancel_idle_observers(
    connection: sqlite3.Connection, turn_ids: Sequence[str], limits: Limits, now: str
) -> list[Cancelled]:
    """Cancel observers that have not begun and have nobody left to watch; one that has begun sees
    the end for itself."""
    rows: dict[str, _Turn] = {}
    for turn_id in turn_ids:
        found = connection.execute(
            "SELECT t.turn_id, t.status, t.target_actor_id, t.room_id, t.root_correlation_id"
            " FROM supervision_pair_turns w JOIN supervision_pair_turns o"
            " ON o.pair_id = w.pair_id AND o.role = 'observer'"
            " JOIN turns t ON t.turn_id = o.turn_id AND t.status = 'queued'"
            " WHERE w.turn_id = ? AND w.role = 'worker' AND NOT EXISTS ("
            "SELECT 1 FROM supervision_pair_turns x JOIN turns y ON y.turn_id = x.turn_id"
            " WHERE x.pair_id = w.pair_id AND x.role = 'worker'"
            " AND y.status IN ('queued', 'dispatching', 'running'))",
            (turn_id,),
        )
        rows |= {row[0]: _Turn(row[0], TurnStatus(row[1]), *row[2:]) for row in found}
    return [_apply(connection, turn, limits, now) for turn in rows.values()]


@dataclass(frozen=True, slots=True)
class _Turn:
    turn_id: str
    status: TurnStatus
    actor_id: str
    room_id: str
    correlation_id: str

    def cancelled(self, reply: CancelReply, status: TurnStatus) -> Cancelled:
        is_told = status is TurnStatus.CANCELLING
        return Cancelled(reply, self.actor_id, self.room_id, self.correlation_id, is_told)


def _apply(connection: sqlite3.Connection, turn: _Turn, limits: Limits, now: str) -> Cancelled:
    status = turn.status
    if status is TurnStatus.QUEUED:
        status = TurnStatus.CANCELLED
        end_turn(connection, TurnEnd(turn.turn_id, status), limits, now)
    elif status not in TERMINAL:
        status = TurnStatus.CANCELLING
        connection.execute(
            "UPDATE turns SET status = 'cancelling' WHERE turn_id = ?"
            " AND status IN ('dispatching', 'running')",
            (turn.turn_id,),
        )
    accepted = turn.status not in TERMINAL
    reply = CancelReply(turn_id=turn.turn_id, accepted=accepted, status=status.value)
    return turn.cancelled(reply, status)
