"""What an observer is told of the turn it watches, read in one snapshot.

Only its own pair's turns. The state is that of the snapshot, never that of before a wait.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from groupx_server.domain.steps import Step
from groupx_server.ledger.callers import Caller, CallerTurn, require_turn
from groupx_server.ledger.correlation import ToldEvent, events_of
from groupx_server.ledger.events import WATCH_BRIEF, NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.pairs import Pair, Subject, pair_of
from groupx_server.ledger.steps import Seen, keep_seen, newest_step, seen_by, steps_after
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.bodies import TERMINAL_STATUSES, ObservedBody
from groupx_shared.wire.events import EventType

MAX_STEPS: Final = 50
MAX_MESSAGES: Final = 8
LAST_PIECES: Final = 8
"""Of a running answer, for its end; a piece holds what came in 0.4 s."""
SPOKEN: Final = (EventType.MESSAGE_CREATED, EventType.OPERATOR_DISPATCH)
_RANKS: Final = {"running": 0, "dispatching": 1, "queued": 2, "cancelling": 3}


@dataclass(frozen=True, slots=True)
class Watching:
    """An observer's turn, its pair, and the turn of it that is meant."""

    turn: CallerTurn
    pair: Pair
    subject: Subject
    is_ended: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a watched turn stands, and what is new of it."""

    watching: Watching
    status: str
    certainty: str | None
    started_at: str | None
    error_code: str | None
    steps: Sequence[Step]
    messages: Sequence[ToldEvent]
    has_more: bool
    saying: str
    """The end of the answer so far."""
    steer_count: int
    last_reason: str | None
    seen: Seen
    """How far this snapshot goes."""

    @property
    def is_ended(self) -> bool:
        return self.status in TERMINAL_STATUSES


def require_watch(
    connection: sqlite3.Connection, caller: Caller, subject_turn_id: str | None
) -> Watching:
    """The caller's turn as an observer's, and whom it means.

    Raises: RefusedError (MCP_BINDING_MISMATCH; SUPERVISION_WATCH_REQUIRED: it watches nobody;
    SUPERVISION_PAIR_INVALID: not that turn).
    """
    turn = require_turn(connection, caller)
    pair = pair_of(connection, turn.turn_id)
    if pair is None:
        raise RefusedError(
            "You watch nobody in this turn. Only agents that were set to watch others can use "
            "this; to work with others use “ask” or “send”.",
            code=ErrorCode.SUPERVISION_WATCH_REQUIRED,
        )
    return _chosen(connection, turn, pair, subject_turn_id)


def _chosen(
    connection: sqlite3.Connection, turn: CallerTurn, pair: Pair, wanted: str | None
) -> Watching:
    """The wanted turn, else the one that is furthest, else the last."""
    statuses = [_status(connection, subject.turn_id) for subject in pair.subjects]
    rows = list(zip(pair.subjects, statuses, strict=True))
    if wanted is not None:
        rows = [row for row in rows if row[0].turn_id == wanted]
        if not rows:
            raise RefusedError(
                f"You do not watch the turn “{safe_line(wanted, 80)}”. You watch "
                f"{', '.join(subject.turn_id for subject in pair.subjects)}.",
                code=ErrorCode.SUPERVISION_PAIR_INVALID,
            )
    open_ones = [row for row in rows if row[1] in _RANKS]
    subject, status = min(open_ones, key=lambda row: _RANKS[row[1]]) if open_ones else rows[-1]
    return Watching(turn, pair, subject, status in TERMINAL_STATUSES)


def first_seen(connection: sqlite3.Connection, watching: Watching) -> Seen:
    """Where this observer's next look begins: where its last one ended, at first at the task."""
    seen = seen_by(connection, watching.turn.turn_id, watching.subject.turn_id)
    if seen.seq:
        return seen
    row = connection.execute(
        "SELECT seq FROM events WHERE event_id = ?", (watching.pair.task_event_id,)
    ).fetchone()
    return Seen(seen.step, 0 if row is None else int(row[0]))


def has_news(connection: sqlite3.Connection, subject_turn_id: str, after_step: int) -> bool:
    """True when there is a step after this one."""
    return newest_step(connection, subject_turn_id) > after_step


def has_ended(connection: sqlite3.Connection, turn_id: str) -> bool:
    """True once the turn has ended."""
    return _status(connection, turn_id) in TERMINAL_STATUSES


def read_snapshot(connection: sqlite3.Connection, watching: Watching, since: Seen) -> Snapshot:
    """How the subject stands now, with its steps and its root's messages after `since`."""
    subject = watching.subject
    status, started_at, error_code, certainty = connection.execute(
        "SELECT t.status, t.started_at, t.error_code, (SELECT a.delivery_certainty"
        " FROM turn_attempts a WHERE a.turn_id = t.turn_id ORDER BY a.claimed_at DESC, a.rowid DESC"
        " LIMIT 1) FROM turns t WHERE t.turn_id = ?",
        (subject.turn_id,),
    ).fetchone()
    steps = steps_after(connection, subject.turn_id, since.step, MAX_STEPS + 1)
    spoken = events_of(
        connection, watching.turn.correlation_id, since.seq, MAX_MESSAGES + 1, SPOKEN
    )
    told, said = steps[:MAX_STEPS], spoken[:MAX_MESSAGES]
    count, reason = steers_of(connection, subject.turn_id)
    return Snapshot(
        watching=watching,
        status=status,
        certainty=certainty,
        started_at=started_at,
        error_code=error_code,
        steps=told,
        messages=[event for event in said if event.body.get("kind") != WATCH_BRIEF],
        has_more=len(steps) > MAX_STEPS or len(spoken) > MAX_MESSAGES,
        saying="" if status in TERMINAL_STATUSES else _saying(connection, subject.turn_id),
        steer_count=count,
        last_reason=reason,
        seen=Seen(told[-1].number if told else since.step, said[-1].seq if said else since.seq),
    )


def steers_of(connection: sqlite3.Connection, turn_id: str) -> tuple[int, str | None]:
    """How often a turn was steered, and why the last time."""
    row = connection.execute(
        "SELECT steer_count, last_reason FROM supervision_steer_counts WHERE subject_turn_id = ?",
        (turn_id,),
    ).fetchone()
    return (0, None) if row is None else (int(row[0]), row[1])


def record_look(
    connection: sqlite3.Connection,
    caller: Caller,
    snapshot: Snapshot,
    until: str,
    timed_out: bool,
    now: str,
) -> None:
    """Keep how far the observer has seen its subject, and that it looked."""
    watching = snapshot.watching
    watch_id, subject_id = watching.turn.turn_id, watching.subject.turn_id
    keep_seen(connection, watch_id, subject_id, snapshot.seen, now)
    body = ObservedBody(
        watch_turn_id=watch_id,
        subject_turn_id=subject_id,
        until=until,
        timed_out=timed_out,
        status=snapshot.status,
        cursor=f"{snapshot.seen.step}-{snapshot.seen.seq}",
        steps=len(snapshot.steps),
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=caller.room_id,
        type=EventType.SUPERVISION_OBSERVED,
        actor_id=caller.actor_id,
        instance_id=watching.turn.instance_id,
        correlation_id=watching.turn.correlation_id,
        causation_id=watch_id,
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True),
        provenance={"sourceKind": "supervision", "authorActorId": caller.actor_id},
    )
    insert_event(connection, event)
    failpoint("watch.before_commit")


def _status(connection: sqlite3.Connection, turn_id: str) -> str:
    row = connection.execute("SELECT status FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
    return str(row[0])


def _saying(connection: sqlite3.Connection, turn_id: str) -> str:
    pieces = connection.execute(
        "SELECT text FROM turn_partials WHERE turn_id = ? ORDER BY part_no DESC LIMIT ?",
        (turn_id, LAST_PIECES),
    ).fetchall()
    return "".join(piece for (piece,) in reversed(pieces))
