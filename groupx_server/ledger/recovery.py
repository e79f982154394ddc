"""What a start does with turns that an earlier server left open (seed §5.2, contract §11).

An attempt that provably never left goes back to the queue. Anything else ends once, as
`interrupted`, with what was answered kept and the certainty that is on disk: `delivered` never
becomes `unknown`, and nothing that may have arrived is sent again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from groupx_server.domain.limits import Limits
from groupx_server.domain.turn import (
    NO_RECOLLECTION,
    Certainty,
    Phase,
    Recollection,
    TurnStatus,
    may_requeue,
)
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.terminal import TurnEnd, end_turn
from groupx_server.ledger.turns import OPEN_OF_ACTOR, OPEN_SQL
from groupx_shared.errors import ErrorCode

UNKNOWN_SENTENCE = (
    "The server stopped while this was being sent: it may have arrived, and nothing was sent again."
)
DELIVERED_SENTENCE = (
    "The server stopped while the agent was working on this: the agent may have gone on, and "
    "nothing was sent again."
)


@dataclass(slots=True)
class Recovery:
    """What recovery did, for the log."""

    requeued: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Turns that their agent's own record may tell about; see `recalled`."""


def recover(
    connection: sqlite3.Connection,
    limits: Limits,
    now: str,
    recallable: Mapping[str, Recollection] = NO_RECOLLECTION,
) -> Recovery:
    """Settle every turn that is dispatching, running or cancelling, and queued ones of another
    transport. Turns that may have left and that their agent (an id in `recallable`) can tell
    something about, in a session that has a native id, stay open: their lane asks the agent before
    it does anything else."""
    done = Recovery()
    rows = connection.execute(
        "SELECT t.turn_id, t.status, t.transport, a.attempt_id, a.dispatch_phase,"
        " a.delivery_certainty, t.target_actor_id, b.native_session_id"
        f" FROM turns t {OPEN_OF_ACTOR}"
        " LEFT JOIN turn_attempts a ON a.turn_id = t.turn_id AND a.terminal_at IS NULL"
        " LEFT JOIN session_bindings b ON b.binding_id = a.binding_id"
        f" WHERE t.status IN {OPEN_SQL} ORDER BY t.enqueue_seq"
    ).fetchall()
    for turn_id, status, transport, attempt_id, phase, certainty, actor_id, native_id in rows:
        if transport != "structured":
            _fail_transport(connection, turn_id, transport, limits, now)
            done.failed.append(turn_id)
        elif status != TurnStatus.QUEUED:
            open_attempt = _OpenAttempt(turn_id, TurnStatus(status), attempt_id, phase, certainty)
            if native_id is not None and open_attempt.may_be_told(recallable.get(actor_id)):
                done.left.append(turn_id)
            else:
                _settle(connection, open_attempt, limits, now, done)
    failpoint("recover.before_commit")
    return done


@dataclass(frozen=True, slots=True)
class _OpenAttempt:
    turn_id: str
    status: TurnStatus
    attempt_id: str | None
    phase: str | None
    certainty: str | None

    @property
    def never_left(self) -> bool:
        """True when the prompt provably never left this machine's server."""
        return self.attempt_id is None or (self.phase, self.certainty) == (
            Phase.PREPARED,
            Certainty.NOT_DELIVERED,
        )

    def may_be_told(self, recollection: Recollection | None) -> bool:
        """True when the agent's own record can tell something that is not known yet."""
        if self.never_left or recollection is None:
            return False
        return recollection == "end" or self.certainty == Certainty.UNKNOWN


def _settle(
    connection: sqlite3.Connection,
    attempt: _OpenAttempt,
    limits: Limits,
    now: str,
    done: Recovery,
) -> None:
    if attempt.never_left and attempt.status is TurnStatus.CANCELLING:
        end_turn(connection, TurnEnd(attempt.turn_id, TurnStatus.CANCELLED), limits, now)
        done.cancelled.append(attempt.turn_id)
    elif attempt.never_left and may_requeue(
        attempt.status, Phase.PREPARED, Certainty.NOT_DELIVERED
    ):
        _requeue(connection, attempt, now)
        done.requeued.append(attempt.turn_id)
    else:
        interrupt(connection, attempt.turn_id, attempt.certainty, limits, now)
        done.interrupted.append(attempt.turn_id)


def _requeue(connection: sqlite3.Connection, attempt: _OpenAttempt, now: str) -> None:
    connection.execute(
        "UPDATE turns SET status = 'queued', binding_id = NULL WHERE turn_id = ?"
        " AND status = 'dispatching'",
        (attempt.turn_id,),
    )
    connection.execute(
        "UPDATE turn_attempts SET dispatch_phase = 'terminal', terminal_at = ?,"
        " reconciliation = 'requeued' WHERE attempt_id = ?",
        (now, attempt.attempt_id),
    )


def interrupt(
    connection: sqlite3.Connection,
    turn_id: str,
    certainty: str | None,
    limits: Limits,
    now: str,
    reconciliation: str = "interrupted_at_start",
) -> None:
    """End a turn whose end nobody knows; what was answered is kept."""
    answer = kept_answer(connection, turn_id)
    delivered = certainty == Certainty.DELIVERED
    end = TurnEnd(
        turn_id,
        TurnStatus.INTERRUPTED,
        answer=answer,
        error_code=ErrorCode.TURN_INTERRUPTED,
        error_message=DELIVERED_SENTENCE if delivered else UNKNOWN_SENTENCE,
        reconciliation=reconciliation,
    )
    end_turn(connection, end, limits, now)


def kept_answer(connection: sqlite3.Connection, turn_id: str) -> str:
    """What a turn had answered when its server went away."""
    parts = connection.execute(
        "SELECT text FROM turn_partials WHERE turn_id = ? ORDER BY part_no", (turn_id,)
    )
    return "".join(text for (text,) in parts) or _old_partial(connection, turn_id)


def _old_partial(connection: sqlite3.Connection, turn_id: str) -> str:
    """The earlier program kept a running answer in the turn's own row."""
    row = connection.execute(
        "SELECT partial_text FROM turns WHERE turn_id = ?", (turn_id,)
    ).fetchone()
    return str(row[0] or "")


def _fail_transport(
    connection: sqlite3.Connection, turn_id: str, transport: str, limits: Limits, now: str
) -> None:
    end = TurnEnd(
        turn_id,
        TurnStatus.FAILED,
        error_code=ErrorCode.TRANSPORT_MODE_MISMATCH,
        error_message=(
            f"This turn was accepted for the transport “{transport}”, which is not run any more. "
            "Send the message again."
        ),
        extra={"persistedTransport": transport, "selectedTransport": "structured"},
    )
    end_turn(connection, end, limits, now)
