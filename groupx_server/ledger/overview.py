"""Reads that serve whole screens: bootstrap and the whole text of a cut event."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.events import EventRows, page, unknown_event
from groupx_server.ledger.rooms import list_rooms, read_room
from groupx_server.ledger.stored import read_body
from groupx_server.ledger.turns import open_turns
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import RoomInfo, TextReply, TurnInfo

MAX_OPEN_TURNS: Final = 200
"""Open turns that a bootstrap carries; a room hardly ever has more than a handful."""


@dataclass(frozen=True, slots=True)
class Overview:
    """One consistent snapshot of a room and the list of rooms."""

    through_seq: int
    room: RoomInfo
    rooms: list[RoomInfo]
    recent: EventRows
    open_turns: list[TurnInfo]


def read_overview(connection: sqlite3.Connection, room_id: str, limit: int) -> Overview:
    """Read all that a client needs to show a room. Raises: RefusedError (UNKNOWN_ROOM)."""
    room = read_room(connection, room_id)
    (newest,) = connection.execute("SELECT max(seq) FROM events").fetchone()
    return Overview(
        through_seq=newest or 0,
        room=room,
        rooms=list_rooms(connection),
        recent=page(connection, room_id, limit=limit),
        open_turns=open_turns(connection, room_id, MAX_OPEN_TURNS),
    )


def whole_text(connection: sqlite3.Connection, event_id: str) -> TextReply:
    """The whole text of an event: the parts kept beside it, else its body's content.

    Raises: RefusedError (UNKNOWN_EVENT).
    """
    rows = connection.execute(
        "SELECT field, text FROM event_texts WHERE event_id = ? ORDER BY field, part_no",
        (event_id,),
    ).fetchall()
    if rows:
        return TextReply(
            event_id=event_id, field=rows[0][0], text="".join(text for _, text in rows)
        )
    row = connection.execute(
        "SELECT body_json FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    if row is None:
        raise unknown_event(event_id)
    content = read_body(row[0]).get("content")
    if content is None:
        raise RefusedError(
            "This event has no text. Messages, answers and reasoning have one.",
            code=ErrorCode.UNKNOWN_EVENT,
        )
    return TextReply(event_id=event_id, field="content", text=str(content))
