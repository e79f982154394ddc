"""Queueing a turn: its `turn.queued` and its row, together.

The counterparts are `accept`, `pairs` and `steers`, which write the message that the turn is for,
and `dispatch`, which takes the turn from its lane.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.turns import lane_ahead
from groupx_server.ledger.usage import count_turn
from groupx_shared.ids import SYSTEM, new_id
from groupx_shared.wire.bodies import TurnQueuedBody
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import QueuedTurn


@dataclass(frozen=True, slots=True)
class Target:
    """An agent to wake."""

    actor_id: str
    adapter_id: str
    obstacle: str | None = None
    """What stands in its way now, for the sender."""


@dataclass(frozen=True, slots=True)
class Cause:
    """What a turn is for, and which turn it hangs below."""

    message_id: str
    room_id: str
    correlation_id: str
    hop_count: int = 0
    parent_turn_id: str | None = None
    is_asked: bool = False
    """The parent turn waits for the answer."""


def queue_turn(
    connection: sqlite3.Connection, target: Target, cause: Cause, now: str
) -> QueuedTurn:
    """Put a turn at the end of its agent's lane."""
    turn_id, event_id = new_id("turn"), new_id("evt")
    before, active_turn_id = lane_ahead(connection, target.actor_id)
    body = TurnQueuedBody(
        turn_id=turn_id,
        source_event_id=cause.message_id,
        target_actor_id=target.actor_id,
        adapter_id=target.adapter_id,
        hop_count=cause.hop_count,
        parent_turn_id=cause.parent_turn_id,
        asked=cause.is_asked,
    )
    queued = NewEvent(
        event_id=event_id,
        room_id=cause.room_id,
        type=EventType.TURN_QUEUED,
        actor_id=SYSTEM,
        correlation_id=cause.correlation_id,
        occurred_at=now,
        body=body.model_dump(by_alias=True, exclude_none=True),
        to=[target.actor_id],
        causation_id=cause.message_id,
    )
    seq = insert_event(connection, queued)
    connection.execute(
        "INSERT INTO turns(turn_id, source_event_id, target_actor_id, adapter_id, parent_turn_id,"
        " root_correlation_id, hop_count, queued_event_id, enqueue_seq, status, queued_at,"
        " transport, room_id, asked)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, 'structured', ?, ?)",
        (
            turn_id,
            cause.message_id,
            target.actor_id,
            target.adapter_id,
            cause.parent_turn_id,
            cause.correlation_id,
            cause.hop_count,
            event_id,
            seq,
            now,
            cause.room_id,
            cause.is_asked,
        ),
    )
    count_turn(connection, cause.room_id, target.actor_id)
    return QueuedTurn(
        target=target.actor_id,
        turn_id=turn_id,
        queue_position=before,
        active_turn_id=active_turn_id,
        obstacle=target.obstacle,
    )
