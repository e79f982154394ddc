"""The durable steps of an attempt before its end: claim, prompt invoked, native started.

Order is the promise: `prompt_invoked/unknown` is on disk before the prompt leaves, so after a
crash it is known which prompts may have arrived. Each step checks the state it starts from.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.domain.turn import Phase, TransitionError, TurnStatus
from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.pairs import is_watched
from groupx_server.ledger.steps import note_start
from groupx_server.ledger.turns import OPEN_SQL, head_of_lane
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.wire.bodies import TurnDispatchedBody, TurnStartedBody
from groupx_shared.wire.events import EventType

_PREPARED: Final = ("not_delivered", "prepared", None)


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed: the lane's head, for this session, with a packet up to this seq."""

    turn_id: str
    actor_id: str
    binding_id: str
    instance_id: str
    context_through_seq: int
    summary_through_seq: int | None = None
    transport: str = "structured"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A claimed turn's running attempt."""

    attempt_id: str
    turn_id: str
    room_id: str
    actor_id: str
    source_event_id: str
    correlation_id: str
    is_watched: bool = False
    """Somebody watches the turn: its steps are kept."""


def claim_turn(
    connection: sqlite3.Connection, claim: Claim, now: str, *, is_invoked: bool = False
) -> Attempt | None:
    """Claim the expected head of the lane; None when it is not the head any more (cancelled
    meanwhile). `is_invoked`: the prompt leaves after this very commit.

    Raises: TransitionError when the agent works on another turn already.
    """
    busy = connection.execute(
        f"SELECT turn_id FROM turns WHERE target_actor_id = ? AND status IN {OPEN_SQL}"
        " AND status <> 'queued' LIMIT 1",
        (claim.actor_id,),
    ).fetchone()
    if busy is not None:
        raise TransitionError(f"{claim.actor_id} works on {busy[0]}; one turn at a time.")
    head = head_of_lane(connection, claim.actor_id)
    if head is None or head.turn_id != claim.turn_id:
        return None
    if head.transport != claim.transport:
        raise TransitionError(f"{head.turn_id} was accepted for transport {head.transport}.")
    attempt = Attempt(
        attempt_id=new_id("attempt"),
        turn_id=head.turn_id,
        room_id=head.room_id,
        actor_id=claim.actor_id,
        source_event_id=head.source_event_id,
        correlation_id=head.correlation_id,
        is_watched=is_watched(connection, head.turn_id),
    )
    connection.execute(
        "INSERT INTO turn_attempts(attempt_id, turn_id, binding_id, instance_id,"
        " context_through_seq, summary_through_seq, claimed_at, delivery_certainty,"
        " dispatch_phase, prompt_invoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            attempt.attempt_id,
            attempt.turn_id,
            claim.binding_id,
            claim.instance_id,
            claim.context_through_seq,
            claim.summary_through_seq,
            now,
            *(("unknown", "prompt_invoked", now) if is_invoked else _PREPARED),
        ),
    )
    connection.execute(
        "UPDATE turns SET status = 'dispatching', binding_id = ? WHERE turn_id = ?"
        " AND status = 'queued'",
        (claim.binding_id, attempt.turn_id),
    )
    body = TurnDispatchedBody(
        turn_id=attempt.turn_id, attempt_id=attempt.attempt_id, target_actor_id=claim.actor_id
    )
    _append(
        connection, attempt, EventType.TURN_DISPATCHED, SYSTEM, body.model_dump(by_alias=True), now
    )
    failpoint("claim.before_commit")
    return attempt


def claim_and_invoke(connection: sqlite3.Connection, claim: Claim, now: str) -> Attempt | None:
    """Claim the lane's head and write `prompt_invoked/unknown`, in one commit; the prompt may leave
    after it. None, and nothing written, when it is not the head any more.

    A kill before that commit leaves the turn queued: nothing was sent, and it is begun again.
    """
    attempt = claim_turn(connection, claim, now, is_invoked=True)
    if attempt is not None:
        failpoint("prompt_invoked.before_commit")
    return attempt


def mark_prompt_invoked(connection: sqlite3.Connection, attempt: Attempt, now: str) -> bool:
    """Write `prompt_invoked/unknown`; the prompt may leave only after its commit. False when the
    turn was cancelled meanwhile: nothing may be sent then."""
    status = _status(connection, attempt.turn_id)
    if status != TurnStatus.DISPATCHING:
        return False
    cursor = connection.execute(
        "UPDATE turn_attempts SET dispatch_phase = 'prompt_invoked',"
        " delivery_certainty = 'unknown', prompt_invoked_at = ?"
        " WHERE attempt_id = ? AND dispatch_phase = 'prepared'",
        (now, attempt.attempt_id),
    )
    if cursor.rowcount != 1:
        raise TransitionError(f"{attempt.attempt_id} is not prepared any more.")
    failpoint("prompt_invoked.before_commit")
    return True


def mark_native_started(
    connection: sqlite3.Connection,
    attempt: Attempt,
    native_turn_id: str | None,
    instance_id: str,
    now: str,
) -> None:
    """The agent gave its first sign: delivered, the turn runs, the delivery cursor advances."""
    cursor = connection.execute(
        "UPDATE turn_attempts SET dispatch_phase = 'native_started',"
        " delivery_certainty = 'delivered', started_at = ?, native_turn_id = ?"
        " WHERE attempt_id = ? AND dispatch_phase = 'prompt_invoked'",
        (now, native_turn_id, attempt.attempt_id),
    )
    if cursor.rowcount != 1:
        raise TransitionError(f"{attempt.attempt_id} cannot start: its prompt was not invoked.")
    connection.execute(
        "UPDATE turns SET native_turn_id = ?, started_at = ?, status ="
        " CASE status WHEN 'dispatching' THEN 'running' ELSE status END WHERE turn_id = ?",
        (native_turn_id, now, attempt.turn_id),
    )
    advance_cursor(connection, attempt.attempt_id, attempt.actor_id, attempt.room_id, now)
    body = TurnStartedBody(turn_id=attempt.turn_id, attempt_id=attempt.attempt_id)
    _append(
        connection,
        attempt,
        EventType.TURN_STARTED,
        attempt.actor_id,
        body.model_dump(by_alias=True),
        now,
        instance_id,
    )
    note_start(connection, attempt.turn_id, now)
    failpoint("native_started.before_commit")


def advance_cursor(
    connection: sqlite3.Connection, attempt_id: str, actor_id: str, room_id: str, now: str
) -> None:
    """Move the agent's delivery cursor up to what this delivered attempt carried, never back."""
    connection.execute(
        "INSERT INTO delivery_cursors(actor_id, room_id, last_delivered_seq, last_summary_seq,"
        " updated_at) SELECT ?1, ?2, context_through_seq, summary_through_seq, ?3"
        " FROM turn_attempts WHERE attempt_id = ?4"
        " ON CONFLICT(actor_id, room_id) DO UPDATE SET"
        " last_delivered_seq = MAX(last_delivered_seq, excluded.last_delivered_seq),"
        " last_summary_seq = COALESCE(MAX(last_summary_seq, excluded.last_summary_seq),"
        " excluded.last_summary_seq, last_summary_seq), updated_at = excluded.updated_at"
        # The end finds it where the start put it: a page less to write.
        " WHERE excluded.last_delivered_seq > last_delivered_seq"
        " OR COALESCE(excluded.last_summary_seq, 0) > COALESCE(last_summary_seq, 0)",
        (actor_id, room_id, now, attempt_id),
    )
    failpoint("cursor.before_commit")


def append_partial(connection: sqlite3.Connection, turn_id: str, part_no: int, text: str) -> None:
    """Keep the next piece of a running answer; costs its length, never the whole."""
    connection.execute(
        "INSERT INTO turn_partials(turn_id, part_no, text) VALUES (?, ?, ?)",
        (turn_id, part_no, text),
    )
    failpoint("partial.before_commit")


def delivered_seq(connection: sqlite3.Connection, actor_id: str, room_id: str) -> int:
    """Newest seq that provably reached the agent in this room; 0 at first."""
    row = connection.execute(
        "SELECT last_delivered_seq FROM delivery_cursors WHERE actor_id = ? AND room_id = ?",
        (actor_id, room_id),
    ).fetchone()
    return 0 if row is None else int(row[0])


def require_phase(connection: sqlite3.Connection, attempt_id: str) -> Phase:
    """The attempt's phase on disk."""
    row = connection.execute(
        "SELECT dispatch_phase FROM turn_attempts WHERE attempt_id = ?", (attempt_id,)
    ).fetchone()
    if row is None:
        raise TransitionError(f"there is no attempt {attempt_id}")
    return Phase(row[0])


def _status(connection: sqlite3.Connection, turn_id: str) -> str:
    row = connection.execute("SELECT status FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
    return str(row[0])


def _append(
    connection: sqlite3.Connection,
    attempt: Attempt,
    kind: EventType,
    actor_id: str,
    body: dict[str, Any],
    now: str,
    instance_id: str | None = None,
) -> None:
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=attempt.room_id,
        type=kind,
        actor_id=actor_id,
        instance_id=instance_id,
        correlation_id=attempt.correlation_id,
        causation_id=attempt.source_event_id,
        occurred_at=now,
        body=body,
    )
    insert_event(connection, event)
