"""Pairs of observers and workers: made with the workers' message, in its transaction.

An observer's turn is for the *brief*: a message of whoever ordered the watch, to the observers
only. It hangs below the same turn as the workers' and is never waited for. What observers then do
is `watches` and `steers`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from groupx_server.domain.supervision import DEFAULT_BRIEF
from groupx_server.ledger.events import WATCH_BRIEF, NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.queueing import Cause, Target, queue_turn
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.wire.bodies import PairedBody, PairedTurn
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import QueuedTurn, SupervisionInfo

MODE: Final = "live_steer"


@dataclass(frozen=True, slots=True)
class Watch:
    """Who shall watch the agents that a message wakes; `brief` is what to look out for."""

    observers: Sequence[Target]
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A turn that an observer watches."""

    turn_id: str
    actor_id: str


@dataclass(frozen=True, slots=True)
class Pair:
    """What an observer's turn is for. `subjects` in the order in which they were queued."""

    pair_id: str
    task_event_id: str
    subjects: Sequence[Subject]


@dataclass(frozen=True, slots=True)
class Order:
    """Who orders a watch, for which turns; `cause` is that of the workers."""

    actor_id: str
    instance_id: str | None
    workers: Sequence[QueuedTurn]
    cause: Cause


def write_pair(
    connection: sqlite3.Connection, watch: Watch, order: Order, now: str
) -> SupervisionInfo:
    """Write the brief, the observers' turns and the pair."""
    brief_id = _write_brief(connection, watch, order, now)
    cause = replace(order.cause, message_id=brief_id, is_asked=False)
    observers = [queue_turn(connection, target, cause, now) for target in watch.observers]
    pair_id = new_id("pair")
    body = PairedBody(
        pair_id=pair_id,
        mode=MODE,
        source_event_id=order.cause.message_id,
        watch_event_id=brief_id,
        workers=_paired(order.workers),
        observers=_paired(observers),
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=cause.room_id,
        type=EventType.SUPERVISION_PAIRED,
        actor_id=SYSTEM,
        correlation_id=cause.correlation_id,
        causation_id=order.cause.message_id,
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True),
    )
    insert_event(connection, event)
    connection.execute(
        "INSERT INTO supervision_pairs(pair_id, room_id, correlation_id, source_event_id,"
        " watch_event_id, pair_event_id, mode, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pair_id,
            cause.room_id,
            cause.correlation_id,
            order.cause.message_id,
            brief_id,
            event.event_id,
            MODE,
            now,
        ),
    )
    for role, turns in (("worker", order.workers), ("observer", observers)):
        for turn in turns:
            attach(connection, pair_id, turn, role, now)
    failpoint("pair.before_commit")
    return SupervisionInfo(pair_id=pair_id, watch_event_id=brief_id, observers=tuple(observers))


def attach(
    connection: sqlite3.Connection, pair_id: str, turn: QueuedTurn, role: str, now: str
) -> None:
    """Make a turn part of a pair, as `worker` or `observer`."""
    connection.execute(
        "INSERT INTO supervision_pair_turns(turn_id, pair_id, role, actor_id, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (turn.turn_id, pair_id, role, turn.target, now),
    )


def pair_of(connection: sqlite3.Connection, observer_turn_id: str) -> Pair | None:
    """What this turn watches; None when it is no observer's."""
    row = connection.execute(
        "SELECT p.pair_id, p.source_event_id FROM supervision_pair_turns t"
        " JOIN supervision_pairs p ON p.pair_id = t.pair_id"
        " WHERE t.turn_id = ? AND t.role = 'observer'",
        (observer_turn_id,),
    ).fetchone()
    if row is None:
        return None
    subjects = connection.execute(
        "SELECT t.enqueue_seq, p.turn_id, p.actor_id FROM supervision_pair_turns p"
        " JOIN turns t ON t.turn_id = p.turn_id WHERE p.pair_id = ? AND p.role = 'worker'",
        (row[0],),
    ).fetchall()
    return Pair(row[0], row[1], [Subject(*subject[1:]) for subject in sorted(subjects)])


def is_watched(connection: sqlite3.Connection, turn_id: str) -> bool:
    """True when an observer watches this turn."""
    row = connection.execute(
        "SELECT 1 FROM supervision_pair_turns WHERE turn_id = ? AND role = 'worker'", (turn_id,)
    ).fetchone()
    return row is not None


def _write_brief(connection: sqlite3.Connection, watch: Watch, order: Order, now: str) -> str:
    cause = order.cause
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=cause.room_id,
        type=EventType.MESSAGE_CREATED,
        actor_id=order.actor_id,
        instance_id=order.instance_id,
        correlation_id=cause.correlation_id,
        causation_id=cause.parent_turn_id,
        occurred_at=now,
        body={"content": watch.brief.strip() or DEFAULT_BRIEF, "kind": WATCH_BRIEF},
        to=[target.actor_id for target in watch.observers],
        reply_to_event_id=cause.message_id,
        provenance={
            "sourceKind": "supervision",
            "authorActorId": order.actor_id,
            "labels": [WATCH_BRIEF],
        },
    )
    insert_event(connection, event)
    return event.event_id


def _paired(turns: Sequence[QueuedTurn]) -> tuple[PairedTurn, ...]:
    return tuple(PairedTurn(actor_id=turn.target, turn_id=turn.turn_id) for turn in turns)
