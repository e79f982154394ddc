"""Rooms: list, create, rename, archive; each change is an event in the room itself."""

from __future__ import annotations

import re
import sqlite3
from typing import Any, Final

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.failpoints import failpoint
from groupx_server.ledger.turns import OPEN_OF_ROOM, OPEN_SQL
from groupx_shared.english import counted
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM, USER_WEB, new_id
from groupx_shared.names import unknown_name
from groupx_shared.wire.bodies import RoomBody
from groupx_shared.wire.events import EventType
from groupx_shared.wire.replies import RoomInfo

_COLUMNS: Final = "room_id, title, created_at, archived_at, last_seq, event_count, message_count"
_NUMBERS: Final = re.compile(r"([0-9]{1,18})")
MAX_ROOMS: Final = 10_000
"""Listed at most; a person keeps far fewer."""


def list_rooms(connection: sqlite3.Connection) -> list[RoomInfo]:
    """All rooms: the main one first, then by title as people count; archived ones last."""
    cursor = connection.execute(
        f"SELECT {_COLUMNS} FROM rooms ORDER BY archived_at IS NOT NULL, room_id LIMIT ?",
        (MAX_ROOMS,),
    )
    return sorted((_info(row) for row in cursor), key=_place)


def _place(room: RoomInfo) -> tuple[bool, bool, list[tuple[int, str]], str]:
    """“Sprint 2” comes before “Sprint 10”, and “notes” beside “Notes”."""
    parts = _NUMBERS.split(room.title.casefold())
    key = [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts]
    return room.archived_at is not None, room.room_id != MAIN_ROOM, key, room.room_id


def read_room(connection: sqlite3.Connection, room_id: str) -> RoomInfo:
    """One room. Raises: RefusedError (UNKNOWN_ROOM) naming the nearest one."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM rooms WHERE room_id = ?", (room_id,)
    ).fetchone()
    if row is None:
        raise _unknown_room(connection, room_id)
    return _info(row)


def require_open_room(connection: sqlite3.Connection, room_id: str) -> None:
    """Return if one may write in the room. Raises: RefusedError (UNKNOWN_ROOM, ROOM_ARCHIVED).

    Every accepted message passes here, so nothing is made of the row.
    """
    row = connection.execute(
        "SELECT archived_at, title FROM rooms WHERE room_id = ?", (room_id,)
    ).fetchone()
    if row is None:
        raise _unknown_room(connection, room_id)
    if row[0] is not None:
        raise RefusedError(
            f"The room “{row[1]}” is archived. Restore it with “groupx rooms restore "
            f"{room_id.removeprefix('room:')}” to write in it.",
            code=ErrorCode.ROOM_ARCHIVED,
        )


def _unknown_room(connection: sqlite3.Connection, room_id: str) -> RefusedError:
    known = [r[0].removeprefix("room:") for r in connection.execute("SELECT room_id FROM rooms")]
    return RefusedError(
        unknown_name("room", room_id.removeprefix("room:"), known), code=ErrorCode.UNKNOWN_ROOM
    )


def create_room(
    connection: sqlite3.Connection, room_id: str, title: str, now: str, actor_id: str = USER_WEB
) -> None:
    """Create a room and its `room.created`. Raises: RefusedError (ROOM_EXISTS)."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO rooms(room_id, title, created_at, updated_at) VALUES (?, ?, ?, ?)",
        (room_id, title, now, now),
    )
    if cursor.rowcount != 1:
        raise RefusedError(
            f"There is a room “{room_id.removeprefix('room:')}” already. Choose another name.",
            code=ErrorCode.ROOM_EXISTS,
        )
    _record(connection, EventType.ROOM_CREATED, room_id, RoomBody(title=title), now, actor_id)


def change_room(
    connection: sqlite3.Connection,
    room_id: str,
    title: str | None,
    archived: bool | None,
    now: str,
    actor_id: str = USER_WEB,
) -> None:
    """Rename, archive or restore; what does not change writes nothing.

    Raises: RefusedError (UNKNOWN_ROOM; the main room cannot be archived; a room with open turns
    cannot be archived).
    """
    room = read_room(connection, room_id)
    if title is not None and title != room.title:
        connection.execute(
            "UPDATE rooms SET title = ?, updated_at = ? WHERE room_id = ?", (title, now, room_id)
        )
        body = RoomBody(title=title, previous_title=room.title)
        _record(connection, EventType.ROOM_RENAMED, room_id, body, now, actor_id)
    if archived is not None and archived != (room.archived_at is not None):
        if archived:
            _refuse_archiving(connection, room_id)
        connection.execute(
            "UPDATE rooms SET archived_at = ?, updated_at = ? WHERE room_id = ?",
            (now if archived else None, now, room_id),
        )
        kind = EventType.ROOM_ARCHIVED if archived else EventType.ROOM_RESTORED
        _record(connection, kind, room_id, RoomBody(title=title or room.title), now, actor_id)


def _refuse_archiving(connection: sqlite3.Connection, room_id: str) -> None:
    if room_id == MAIN_ROOM:
        raise RefusedError("The main room always stays; it can be renamed but not archived.")
    row = connection.execute(
        f"SELECT count(*) FROM turns {OPEN_OF_ROOM} WHERE room_id = ? AND status IN {OPEN_SQL}",
        (room_id,),
    ).fetchone()
    if row[0]:
        raise RefusedError(
            f"This room still has {counted(row[0], 'open turn')}. Wait for the end or cancel "
            "first.",
            code=ErrorCode.STORE_CONFLICT,
        )


def _record(
    connection: sqlite3.Connection,
    kind: EventType,
    room_id: str,
    body: RoomBody,
    now: str,
    actor_id: str,
) -> None:
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=kind,
        actor_id=actor_id,
        correlation_id=new_id("corr"),
        occurred_at=now,
        body=body.model_dump(by_alias=True, exclude_none=True),
    )
    insert_event(connection, event)
    failpoint("room.before_commit")


def _info(row: tuple[Any, ...]) -> RoomInfo:
    return RoomInfo(
        room_id=row[0],
        title=row[1],
        created_at=row[2],
        archived_at=row[3],
        last_seq=row[4],
        event_count=row[5],
        message_count=row[6],
    )
