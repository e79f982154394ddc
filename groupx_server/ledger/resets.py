"""Context resets: a floor in a room below which agents are told nothing any more.

Nothing is deleted. The room's summary counts no longer; when native sessions are reset too, none
that was opened before is taken up again.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.messages import said_after
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.summaries import end_summary, reset_floor
from groupx_shared.ids import USER_WEB, new_id
from groupx_shared.wire.context import ResetBody
from groupx_shared.wire.events import EventType


@dataclass(frozen=True, slots=True)
class Reset:
    """Where the floor is; `is_new` false: nothing was said since it was put there, and nothing was
    done."""

    through_seq: int
    is_new: bool


def reset_context(connection: sqlite3.Connection, room_id: str, is_native: bool, now: str) -> Reset:
    """Put the floor at the room's newest event; again where it is when native sessions, which an
    earlier one left alone, are to be new too. Raises: RefusedError (UNKNOWN_ROOM)."""
    floor = reset_floor(connection, room_id)
    has_news = said_after(connection, room_id, floor).messages > 0
    if not has_news and not (is_native and _left_sessions(connection, room_id, floor)):
        return Reset(floor, False)
    through = read_room(connection, room_id).last_seq
    connection.execute(
        "INSERT INTO context_resets(reset_id, room_id, through_seq, reset_native_sessions,"
        " created_at) VALUES (?, ?, ?, ?, ?)",
        (new_id("reset"), room_id, through, int(is_native), now),
    )
    end_summary(connection, room_id, "superseded")
    body = ResetBody(through_seq=through, reset_native_sessions=is_native)
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=EventType.CONTEXT_RESET,
        actor_id=USER_WEB,
        correlation_id=new_id("corr"),
        occurred_at=now,
        body=body.model_dump(by_alias=True),
        provenance={"sourceKind": "operator", "authorActorId": USER_WEB},
    )
    insert_event(connection, event)
    failpoint("reset.before_commit")
    return Reset(through, True)


def _left_sessions(connection: sqlite3.Connection, room_id: str, floor: int) -> bool:
    """Whether the reset that put the floor there left native sessions as they were."""
    row = connection.execute(
        "SELECT MAX(reset_native_sessions) FROM context_resets WHERE room_id = ?"
        " AND through_seq >= ?",
        (room_id, floor),
    ).fetchone()
    return bool(row[0] == 0)
