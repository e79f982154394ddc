"""Turns as they are read: one, lists, queues. Writing them is in accept, dispatch, terminal."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from groupx_server.ledger.stored import read_body
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.replies import TurnInfo

OPEN_SQL: Final = "('queued', 'dispatching', 'running', 'cancelling')"
OPEN_OF_ROOM: Final = "INDEXED BY turns_open_room_idx"
OPEN_OF_ACTOR: Final = "INDEXED BY turns_open_actor_idx"
"""For statements about open turns, of which there are few. Left to itself SQLite takes an index
over all turns of the room, and each message costs what the room is long."""
LAST_SEQ: Final = 2**63 - 1
"""SQLite's largest integer: after every seq."""
PARTIAL_PREVIEW: Final = 131_072
"""Characters of a running answer that one turn's reply carries at most."""

_COLUMNS: Final = (
    "t.turn_id, t.room_id, t.target_actor_id, t.status, t.source_event_id, t.root_correlation_id,"
    " t.parent_turn_id, t.hop_count, t.enqueue_seq, t.error_code, t.error_message,"
    " t.response_event_id, t.terminal_event_id, t.partial_text, t.queued_at, t.started_at,"
    " t.terminal_at, t.usage_json, a.dispatch_phase, a.delivery_certainty,"
    " (SELECT count(*) FROM turn_attempts c WHERE c.turn_id = t.turn_id)"
)
_LATEST: Final = (
    "LEFT JOIN turn_attempts a ON a.rowid = (SELECT l.rowid FROM turn_attempts l"
    " WHERE l.turn_id = t.turn_id ORDER BY l.claimed_at DESC, l.rowid DESC LIMIT 1)"
)
_FROM: Final = f"FROM turns t {_LATEST}"
TurnSelection = Literal["open", "ended", "all"]


@dataclass(frozen=True, slots=True)
class QueuedHead:
    """The oldest waiting turn of an agent."""

    turn_id: str
    room_id: str
    source_event_id: str
    correlation_id: str
    transport: str = "structured"


def head_of_lane(connection: sqlite3.Connection, actor_id: str) -> QueuedHead | None:
    """The agent's oldest queued turn over all rooms; None when nothing waits."""
    row = connection.execute(
        "SELECT turn_id, room_id, source_event_id, root_correlation_id, transport"
        " FROM turns"
        " WHERE target_actor_id = ? AND status = 'queued'"
        f" AND status IN {OPEN_SQL} ORDER BY enqueue_seq LIMIT 1",
        (actor_id,),
    ).fetchone()
    return None if row is None else QueuedHead(*row)


def actors_with_queued_turns(connection: sqlite3.Connection) -> list[str]:
    """Agents that have waiting turns."""
    cursor = connection.execute(
        f"SELECT DISTINCT target_actor_id FROM turns {OPEN_OF_ACTOR} WHERE status IN {OPEN_SQL}"
        " AND status = 'queued'"
    )
    return [actor_id for (actor_id,) in cursor]


def queued_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Waiting turns of each agent that has any."""
    cursor = connection.execute(
        f"SELECT target_actor_id, count(*) FROM turns {OPEN_OF_ACTOR}"
        f" WHERE status IN {OPEN_SQL} AND status = 'queued' GROUP BY target_actor_id"
    )
    return dict(cursor.fetchall())


def read_turn(connection: sqlite3.Connection, turn_id: str) -> TurnInfo:
    """One turn with its answer or the partial text. Raises: RefusedError (UNKNOWN_TURN)."""
    row = connection.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE t.turn_id = ?", (turn_id,)
    ).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    info = _info(connection, row)
    if info.response_event_id is not None:
        return info.model_copy(update={"content": _content(connection, info.response_event_id)})
    if info.partial_text is None:
        return info.model_copy(update={"partial_text": partial_text(connection, turn_id)})
    return info


def list_turns(
    connection: sqlite3.Connection,
    *,
    room_id: str | None = None,
    actor_id: str | None = None,
    selection: TurnSelection = "all",
    before: int | None = None,
    limit: int = 100,
) -> tuple[list[TurnInfo], int | None]:
    """Turns, newest first, and the `before` of the next page (None at the end)."""
    clauses: list[str] = ["1"]
    values: list[Any] = []
    for column, value in (("t.room_id", room_id), ("t.target_actor_id", actor_id)):
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(value)
    if selection != "all":
        clauses.append(f"t.status {'' if selection == 'open' else 'NOT '}IN {OPEN_SQL}")
    if before is not None:
        clauses.append("t.enqueue_seq < ?")
        values.append(before)
    index = ""
    if selection == "open":
        index = OPEN_OF_ROOM if actor_id is None else OPEN_OF_ACTOR
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM turns t {index} {_LATEST} WHERE {' AND '.join(clauses)}"
        " ORDER BY t.enqueue_seq DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    infos = [_info(connection, row) for row in rows[:limit]]
    next_before = rows[limit - 1][8] if len(rows) > limit else None
    return infos, next_before


def turns_of_root(
    connection: sqlite3.Connection, correlation_id: str, limit: int
) -> list[TurnInfo]:
    """The turns of one root in the order of their queues."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE t.root_correlation_id = ? LIMIT ?",
        (correlation_id, limit),
    ).fetchall()
    rows.sort(key=lambda row: int(row[8]))
    return [_info(connection, row) for row in rows]


def open_turns(connection: sqlite3.Connection, room_id: str, limit: int) -> list[TurnInfo]:
    """The room's open turns, oldest first, with what was answered so far."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM turns t {OPEN_OF_ROOM} {_LATEST}"
        f" WHERE t.room_id = ? AND t.status IN {OPEN_SQL}"
        " ORDER BY t.enqueue_seq LIMIT ?",
        (room_id, limit),
    ).fetchall()
    infos = [_info(connection, row) for row in rows]
    return [
        info.model_copy(update={"partial_text": partial_text(connection, info.turn_id) or None})
        for info in infos
    ]


def open_sources(connection: sqlite3.Connection, actor_id: str, room_id: str) -> set[str]:
    """Event ids of the messages whose turns the agent has not ended in this room."""
    cursor = connection.execute(
        f"SELECT source_event_id FROM turns {OPEN_OF_ACTOR}"
        " WHERE target_actor_id = ? AND room_id = ?"
        f" AND status IN {OPEN_SQL}",
        (actor_id, room_id),
    )
    return {event_id for (event_id,) in cursor}


def partial_text(connection: sqlite3.Connection, turn_id: str) -> str:
    """What a running turn has answered so far, as far as it is on disk."""
    cursor = connection.execute(
        "SELECT text FROM turn_partials WHERE turn_id = ? ORDER BY part_no", (turn_id,)
    )
    return "".join(text for (text,) in cursor)[:PARTIAL_PREVIEW]


def unknown_turn(turn_id: str) -> RefusedError:
    """The refusal for a turn id that the ledger does not hold."""
    return RefusedError(
        f"There is no turn “{safe_line(turn_id, 80)}”. “groupx turns list” shows them.",
        code=ErrorCode.UNKNOWN_TURN,
    )


def _content(connection: sqlite3.Connection, event_id: str) -> str:
    row = connection.execute(
        "SELECT body_json FROM events WHERE event_id = ?", (event_id,)
    ).fetchone()
    return "" if row is None else str(read_body(row[0]).get("content", ""))


def lane_ahead(
    connection: sqlite3.Connection, actor_id: str, enqueue_seq: int | None = None
) -> tuple[int, str | None]:
    """Open turns of the agent before this seq (None: all), and the one it works on."""
    of_lane = f"FROM turns {OPEN_OF_ACTOR} WHERE target_actor_id = ?1 AND status IN {OPEN_SQL}"
    count, active = connection.execute(
        f"SELECT (SELECT count(*) {of_lane} AND enqueue_seq < ?2),"
        f" (SELECT turn_id {of_lane} AND status <> 'queued' ORDER BY enqueue_seq LIMIT 1)",
        (actor_id, LAST_SEQ if enqueue_seq is None else enqueue_seq),
    ).fetchone()
    return int(count), active


def _info(connection: sqlite3.Connection, row: tuple[Any, ...]) -> TurnInfo:
    position, behind = None, None
    if row[3] == "queued":
        position, behind = lane_ahead(connection, row[2], row[8])
    return TurnInfo(
        turn_id=row[0],
        room_id=row[1],
        target_actor_id=row[2],
        status=row[3],
        source_event_id=row[4],
        correlation_id=row[5],
        parent_turn_id=row[6],
        hop_count=row[7],
        queue_position=position,
        behind_turn_id=behind,
        error_code=row[9],
        error_message=row[10],
        response_event_id=row[11],
        terminal_event_id=row[12],
        partial_text=row[13],
        queued_at=row[14],
        started_at=row[15],
        terminal_at=row[16],
        usage=None if row[17] is None else orjson.loads(row[17]),
        dispatch_phase=row[18],
        delivery_certainty=row[19],
        attempts=row[20],
    )
