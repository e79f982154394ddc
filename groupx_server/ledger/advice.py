"""What a person says to the agent of a turn: into the turn while it runs, else as its next one.

One write: message, receipt, and either the note that it is on its way into the running turn or the
turn that follows. What became of it is `settle_advice`; what may have arrived is not sent again.
Counterpart: `steers`, the same for observers, which are counted and have a pair.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import Final

from groupx_server.domain.limits import Limits
from groupx_server.ledger.accept import (
    AcceptMessage,
    Source,
    check_message,
    place_message,
    write_message,
)
from groupx_server.ledger.commands import find_receipt, store_receipt
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.nudged import Settled, tell_nudged
from groupx_server.ledger.queueing import Cause, Target, queue_turn
from groupx_server.ledger.steers import ADVICE, Outcome
from groupx_server.ledger.turns import read_turn
from groupx_shared.wire.bodies import TERMINAL_STATUSES
from groupx_shared.wire.replies import QueuedTurn, TurnInfo

COMMAND: Final = "turn.advise"


@dataclass(frozen=True, slots=True)
class TurnAdvice:
    """What a person wants to be said. `is_live`: the turn's agent can take a further message right
    now."""

    turn_id: str
    client_command_id: str
    content: str
    source: Source
    is_live: bool


@dataclass(frozen=True, slots=True)
class AdvicePlaced:
    """It is on disk; `is_new` is false when it was there before."""

    message_event_id: str
    subject: TurnInfo
    is_live: bool
    is_new: bool


def place_advice(
    connection: sqlite3.Connection, advice: TurnAdvice, limits: Limits, now: str
) -> AdvicePlaced:
    """Write it. Raises: RefusedError (UNKNOWN_TURN, CLIENT_COMMAND_CONFLICT, ROOM_ARCHIVED,
    QUEUE_CAPACITY_REACHED); nothing is written then."""
    subject = read_turn(connection, advice.turn_id)
    command = _command(connection, advice, subject)
    command_hash, binding = command.hash(), advice.source.binding_id
    receipt = (connection, binding, advice.client_command_id, COMMAND, command_hash)
    if (stored := find_receipt(*receipt)) is not None:
        return AdvicePlaced(stored["messageEventId"], subject, stored["isLive"], is_new=False)
    is_live = advice.is_live and subject.status not in TERMINAL_STATUSES
    if is_live:
        message_id = _place_live(connection, command, subject, limits, now)
    else:
        next_one = replace(command, correlation_id=None, message_kind=None)
        message_id = place_message(connection, next_one, limits, now).message_event_id
    store_receipt(*receipt, {"messageEventId": message_id, "isLive": is_live}, now)
    failpoint("advice.before_commit")
    return AdvicePlaced(message_id, subject, is_live, is_new=True)


def _command(
    connection: sqlite3.Connection, advice: TurnAdvice, subject: TurnInfo
) -> AcceptMessage:
    return AcceptMessage(
        client_command_id=advice.client_command_id,
        room_id=subject.room_id,
        content=advice.content,
        targets=[_target(connection, subject.turn_id)],
        source=advice.source,
        command_type=COMMAND,
        correlation_id=subject.correlation_id,
        message_kind=ADVICE,
    )


def _target(connection: sqlite3.Connection, turn_id: str) -> Target:
    row = connection.execute(
        "SELECT target_actor_id, adapter_id FROM turns WHERE turn_id = ?", (turn_id,)
    ).fetchone()
    return Target(*row)


def _place_live(
    connection: sqlite3.Connection,
    command: AcceptMessage,
    subject: TurnInfo,
    limits: Limits,
    now: str,
) -> str:
    """The message wakes nobody; it is on its way into a running turn."""
    check_message(connection, replace(command, targets=[]), limits)
    message_id, _ = write_message(
        connection, command, subject.correlation_id, now, wakes_nobody=True
    )
    connection.execute(
        "INSERT INTO turn_advice(message_event_id, subject_turn_id, state, created_at)"
        " VALUES (?, ?, 'sending', ?)",
        (message_id, subject.turn_id, now),
    )
    return message_id


def advice_state(
    connection: sqlite3.Connection, message_event_id: str
) -> tuple[Outcome, str | None]:
    """What became of it (`sending`: it is on its way), and the turn that follows from it."""
    row = connection.execute(
        "SELECT state FROM turn_advice WHERE message_event_id = ?", (message_event_id,)
    ).fetchone()
    turn = connection.execute(
        "SELECT turn_id FROM turns WHERE source_event_id = ?", (message_event_id,)
    ).fetchone()
    return "queued" if row is None else row[0], None if turn is None else turn[0]


def settle_advice(
    connection: sqlite3.Connection, message_event_id: str, outcome: Outcome, now: str
) -> QueuedTurn | None:
    """Write what became of it, once; what was not taken becomes the agent's next turn, which is
    returned."""
    changed = connection.execute(
        "UPDATE turn_advice SET state = ?, settled_at = ? WHERE message_event_id = ?"
        " AND state = 'sending'",
        (outcome, now, message_event_id),
    )
    if changed.rowcount != 1:
        return None
    row = connection.execute(
        "SELECT a.subject_turn_id, e.room_id, e.correlation_id, e.actor_id FROM turn_advice a"
        " JOIN events e ON e.event_id = a.message_event_id WHERE a.message_event_id = ?",
        (message_event_id,),
    ).fetchone()
    subject_id, room_id, root, person = row
    queued = None
    if outcome == "queued":
        cause = Cause(message_event_id, room_id, root, 0, None)
        queued = queue_turn(connection, _target(connection, subject_id), cause, now)
    next_turn_id = None if queued is None else queued.turn_id
    settled = Settled(message_event_id, subject_id, room_id, root, person, outcome, next_turn_id)
    tell_nudged(connection, settled, now)
    failpoint("advice.before_settle")
    return queued


def settle_left_advice(connection: sqlite3.Connection, now: str) -> int:
    """A start: what an earlier server was giving to a running turn may have arrived."""
    left = connection.execute(
        "SELECT message_event_id FROM turn_advice WHERE state = 'sending'"
    ).fetchall()
    for (message_event_id,) in left:
        settle_advice(connection, message_event_id, "unknown", now)
    return len(left)
