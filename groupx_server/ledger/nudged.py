"""The event that tells what became of words for a running turn, an observer's or a person's.

Counterparts: `steers` and `advice`, which settle theirs once and say so by this.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_shared.ids import new_id
from groupx_shared.wire.bodies import NudgedBody
from groupx_shared.wire.events import EventType


@dataclass(frozen=True, slots=True)
class Settled:
    """Words that are no longer on their way. `next_turn_id`: what they became when not taken."""

    message_event_id: str
    subject_turn_id: str
    room_id: str
    root: str
    author_id: str
    outcome: str
    next_turn_id: str | None


def tell_nudged(connection: sqlite3.Connection, settled: Settled, now: str) -> None:
    """Write `supervision.nudged`."""
    body = NudgedBody.model_validate(
        {
            "message_event_id": settled.message_event_id,
            "subject_turn_id": settled.subject_turn_id,
            "outcome": settled.outcome,
            "next_turn_id": settled.next_turn_id,
        }
    )
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=settled.room_id,
        type=EventType.SUPERVISION_NUDGED,
        actor_id=settled.author_id,
        correlation_id=settled.root,
        causation_id=settled.message_event_id,
        occurred_at=now,
        body=body.model_dump(mode="json", by_alias=True, exclude_none=True),
        provenance={"sourceKind": "supervision", "authorActorId": settled.author_id},
    )
    insert_event(connection, event)
