"""Steering: an observer's advice, or the stop of a turn with something else to do, as one write.

The count, the message, the turn that is stopped, the turn that follows and the event stand or fall
together. Advice for a running turn is written as `sending` before it leaves; what became of it is
`settle_nudge`. What may have arrived is not sent again: a server that dies in between leaves it
`unknown`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import Final, Literal

from groupx_server.domain.command import canonical_hash
from groupx_server.domain.limits import Limits
from groupx_server.domain.supervision import check_steers
from groupx_server.ledger.accept import (
    AcceptMessage,
    Source,
    check_message,
    place_message,
    write_message,
)
from groupx_server.ledger.callers import Caller
from groupx_server.ledger.calls import CallStopped, stop_of
from groupx_server.ledger.cancel import Cancelled, cancel_asked, cancel_one
from groupx_server.ledger.commands import find_receipt, store_receipt
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.nudged import Settled, tell_nudged
from groupx_server.ledger.pairs import attach
from groupx_server.ledger.queueing import Cause, Target, queue_turn
from groupx_server.ledger.stops import is_limit, record_stop
from groupx_server.ledger.watches import Watching, require_watch, steers_of
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.wire.bodies import SteeredBody
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import QueuedTurn

COMMAND: Final = "supervision.steer"
ADVICE: Final = "supervision.advice"
"""Kind of the message."""
Action = Literal["nudge", "interrupt"]
Outcome = Literal["sending", "taken", "queued", "unknown"]


@dataclass(frozen=True, slots=True)
class Steer:
    """What an observer wants. `live_turn_id` is the running turn whose agent can take a further
    message right now; other advice is queued."""

    caller: Caller
    command_id: str
    action: Action
    reason: str
    content: str
    subject_turn_id: str | None = None
    live_turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class SteerPlaced:
    """It is on disk. `cancelled` is the stop of an interrupt; `is_new` is false when it was there
    before."""

    correlation_id: str
    steered: SteeredBody
    cancelled: Cancelled | None = None
    is_new: bool = True

    @property
    def is_live(self) -> bool:
        """The advice is to be given to the running turn now."""
        return self.is_new and self.steered.delivery == "live"


def place_steer(
    connection: sqlite3.Connection, steer: Steer, limits: Limits, now: str
) -> SteerPlaced | CallStopped:
    """Write the steer, or by which limit it was stopped.

    Raises: RefusedError (MCP_BINDING_MISMATCH, SUPERVISION_WATCH_REQUIRED,
    SUPERVISION_PAIR_INVALID, STEER_LIMIT_REACHED, CLIENT_COMMAND_CONFLICT, ROOM_ARCHIVED).
    """
    watching = require_watch(connection, steer.caller, steer.subject_turn_id)
    turn = watching.turn
    command_id = f"{turn.turn_id}/{steer.command_id}"
    binding_id, command_hash = steer.caller.binding_id, _hash(steer)
    stored = find_receipt(connection, binding_id, command_id, COMMAND, command_hash)
    if stored is not None:
        steered = SteeredBody.model_validate(stored)
        return SteerPlaced(turn.correlation_id, steered, is_new=False)
    command = _command(connection, steer, watching, command_id)
    try:
        steered, cancelled = _apply(connection, steer, watching, command, limits, now)
    except RefusedError as error:
        if not is_limit(error):
            raise
        stop = stop_of(command, steer.caller, turn, error)
        return CallStopped(error, record_stop(connection, stop, now))
    result = steered.model_dump(mode="json", by_alias=True, exclude_none=True)
    _announce(connection, EventType.SUPERVISION_STEERED, steer.caller, watching, result, now)
    store_receipt(connection, binding_id, command_id, COMMAND, command_hash, result, now)
    failpoint("steer.before_commit")
    return SteerPlaced(turn.correlation_id, steered, cancelled)


def _hash(steer: Steer) -> str:
    return canonical_hash(
        COMMAND,
        {
            "action": steer.action,
            "reason": steer.reason,
            "content": steer.content,
            "subjectTurnId": steer.subject_turn_id,
        },
    )


def _command(
    connection: sqlite3.Connection, steer: Steer, watching: Watching, command_id: str
) -> AcceptMessage:
    turn, subject = watching.turn, watching.subject
    (adapter_id,) = connection.execute(
        "SELECT adapter_id FROM turns WHERE turn_id = ?", (subject.turn_id,)
    ).fetchone()
    source = Source(steer.caller.binding_id, steer.caller.actor_id, turn.instance_id, "supervision")
    return AcceptMessage(
        client_command_id=command_id,
        room_id=steer.caller.room_id,
        content=steer.content,
        targets=[Target(subject.actor_id, adapter_id)],
        reply_to_event_id=watching.pair.task_event_id,
        source=source,
        command_type=COMMAND,
        hop_count=turn.hop_count + 1,
        parent_turn_id=turn.turn_id,
        correlation_id=turn.correlation_id,
        message_kind=ADVICE,
    )


def _apply(
    connection: sqlite3.Connection,
    steer: Steer,
    watching: Watching,
    command: AcceptMessage,
    limits: Limits,
    now: str,
) -> tuple[SteeredBody, Cancelled | None]:
    subject = watching.subject
    used, _ = steers_of(connection, subject.turn_id)
    check_steers(used, limits.steers_per_subject_turn, subject.turn_id)
    is_live = steer.action == "nudge" and steer.live_turn_id == subject.turn_id
    cancelled, next_turn = None, None
    if is_live and not watching.is_ended:
        check_message(connection, command, limits)
        message_id = _write_live(connection, steer, watching, command, now)
    else:
        is_live = False
        _require_open(steer, watching)
        accepted = place_message(connection, command, limits, now)
        message_id, (next_turn,) = accepted.message_event_id, accepted.turns
        attach(connection, watching.pair.pair_id, next_turn, "worker", now)
        if steer.action == "interrupt":
            cancelled = _stop(connection, subject.turn_id, limits, now)
    _count(connection, subject.turn_id, used + 1, steer)
    steered = SteeredBody(
        action=steer.action,
        reason=steer.reason,
        subject_turn_id=subject.turn_id,
        subject_actor_id=subject.actor_id,
        pair_id=watching.pair.pair_id,
        message_event_id=message_id,
        delivery="live" if is_live else "queued",
        next_turn_id=None if next_turn is None else next_turn.turn_id,
        steer_count=used + 1,
    )
    return steered, cancelled


def _stop(connection: sqlite3.Connection, turn_id: str, limits: Limits, now: str) -> Cancelled:
    cancelled = cancel_one(connection, turn_id, limits, now)
    return replace(cancelled, asked=cancel_asked(connection, turn_id, limits, now))


def _require_open(steer: Steer, watching: Watching) -> None:
    if steer.action == "interrupt" and watching.is_ended:
        raise RefusedError(
            f"The turn {watching.subject.turn_id} has ended already; there is nothing to stop. "
            "Use “nudge” if its agent should do something more.",
            code=ErrorCode.SUPERVISION_PAIR_INVALID,
        )


def _write_live(
    connection: sqlite3.Connection,
    steer: Steer,
    watching: Watching,
    command: AcceptMessage,
    now: str,
) -> str:
    """The message wakes nobody; it is on its way into a running turn."""
    message_id, _ = write_message(
        connection, command, watching.turn.correlation_id, now, wakes_nobody=True
    )
    connection.execute(
        "INSERT INTO supervision_nudges(message_event_id, subject_turn_id, watch_turn_id, pair_id,"
        " observer_actor_id, state, created_at) VALUES (?, ?, ?, ?, ?, 'sending', ?)",
        (
            message_id,
            watching.subject.turn_id,
            watching.turn.turn_id,
            watching.pair.pair_id,
            steer.caller.actor_id,
            now,
        ),
    )
    return message_id


def _count(connection: sqlite3.Connection, turn_id: str, count: int, steer: Steer) -> None:
    connection.execute(
        "INSERT INTO supervision_steer_counts(subject_turn_id, steer_count, last_reason)"
        " VALUES (?, ?, ?) ON CONFLICT(subject_turn_id) DO UPDATE SET"
        " steer_count = excluded.steer_count, last_reason = excluded.last_reason",
        (turn_id, count, steer.reason),
    )


def _announce(
    connection: sqlite3.Connection,
    kind: EventType,
    caller: Caller,
    watching: Watching,
    body: dict[str, object],
    now: str,
) -> None:
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=caller.room_id,
        type=kind,
        actor_id=caller.actor_id,
        instance_id=watching.turn.instance_id,
        correlation_id=watching.turn.correlation_id,
        causation_id=watching.turn.turn_id,
        occurred_at=now,
        body=body,
        provenance={"sourceKind": "supervision", "authorActorId": caller.actor_id},
    )
    insert_event(connection, event)


# ── What became of advice for a running turn ──────────────────────────────────────────────────


def delivery_of(
    connection: sqlite3.Connection, message_event_id: str
) -> tuple[Outcome, str | None]:
    """What became of advice (`sending`: it is on its way), and the turn that follows from it."""
    row = connection.execute(
        "SELECT state FROM supervision_nudges WHERE message_event_id = ?", (message_event_id,)
    ).fetchone()
    turn = connection.execute(
        "SELECT turn_id FROM turns WHERE source_event_id = ?", (message_event_id,)
    ).fetchone()
    return "queued" if row is None else row[0], None if turn is None else turn[0]


def settle_nudge(
    connection: sqlite3.Connection, message_event_id: str, outcome: Outcome, now: str
) -> QueuedTurn | None:
    """Write what became of it, once; advice that was not taken becomes the agent's next turn,
    which is returned."""
    changed = connection.execute(
        "UPDATE supervision_nudges SET state = ?, settled_at = ? WHERE message_event_id = ?"
        " AND state = 'sending'",
        (outcome, now, message_event_id),
    )
    if changed.rowcount != 1:
        return None
    row = connection.execute(
        "SELECT n.subject_turn_id, n.watch_turn_id, n.pair_id, n.observer_actor_id, e.room_id,"
        " e.correlation_id, s.target_actor_id, s.adapter_id, w.hop_count FROM supervision_nudges n"
        " JOIN events e ON e.event_id = n.message_event_id"
        " JOIN turns s ON s.turn_id = n.subject_turn_id"
        " JOIN turns w ON w.turn_id = n.watch_turn_id WHERE n.message_event_id = ?",
        (message_event_id,),
    ).fetchone()
    subject_id, watch_id, pair_id, observer, room_id, root, actor, adapter, hop = row
    queued = None
    if outcome == "queued":
        cause = Cause(message_event_id, room_id, root, hop + 1, watch_id)
        queued = queue_turn(connection, Target(actor, adapter), cause, now)
        attach(connection, pair_id, queued, "worker", now)
    next_turn_id = None if queued is None else queued.turn_id
    settled = Settled(message_event_id, subject_id, room_id, root, observer, outcome, next_turn_id)
    tell_nudged(connection, settled, now)
    failpoint("nudge.before_commit")
    return queued


def settle_left_nudges(connection: sqlite3.Connection, now: str) -> int:
    """A start: what an earlier server was giving to a running turn may have arrived."""
    left = connection.execute(
        "SELECT message_event_id FROM supervision_nudges WHERE state = 'sending'"
    ).fetchall()
    for (message_event_id,) in left:
        settle_nudge(connection, message_event_id, "unknown", now)
    return len(left)
