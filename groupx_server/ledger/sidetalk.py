"""The side conversation with the room assistant: requests in order, answers, acts.

A request is on disk before it is answered for; it goes `queued`, `running`, and ends once. What
was running when a server died ends as `interrupted` and is never worked on again by itself; what
waited goes on. Nothing here is in a room, so no agent's context and no export holds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.domain.command import canonical_hash
from groupx_server.domain.tombstone import TOMBSTONE
from groupx_server.ledger.commands import find_receipt, once, store_receipt
from groupx_server.ledger.rooms import require_open_room
from groupx_shared.english import counted
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import BINDING_LOCAL, new_id
from groupx_shared.text import safe_line
from groupx_shared.wire.assistant import (
    AssistantAct,
    AssistantCancelled,
    CancelAssistant,
    RequestStatus,
    SideMessage,
)

COMMAND: Final = "assistant.ask"
MAX_OPEN: Final = 16
"""Requests that wait or are answered."""
MAX_KEPT: Final = 2_000
"""Messages of the conversation; the oldest go first."""
MAX_ACTS: Final = 200
"""Acts told of one request."""
_OPEN: Final = "('queued', 'running')"
_COLUMNS: Final = (
    "message_id, role, content, created_at, status, request_id, room_id, error_code, error_message,"
    " cut"
)


@dataclass(frozen=True, slots=True)
class NewRequest:
    """What a person asks."""

    client_command_id: str
    content: str
    room_id: str


@dataclass(frozen=True, slots=True)
class Taken:
    """The request, how many are before it, and whether it was there already."""

    request: SideMessage
    position: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class RequestEnd:
    """How a request ended; `content` is the answer, or what there was of it."""

    request_id: str
    status: RequestStatus
    content: str = ""
    is_cut: bool = False
    error_code: str | None = None
    error_message: str | None = None


def take_request(connection: sqlite3.Connection, asked: NewRequest, now: str) -> Taken:
    """Put a request at the end of the queue; the same command again finds it.

    Raises: RefusedError (CLIENT_COMMAND_CONFLICT, QUEUE_CAPACITY_REACHED, UNKNOWN_ROOM,
    ROOM_ARCHIVED).
    """
    digest = canonical_hash(COMMAND, {"content": asked.content, "roomId": asked.room_id})
    stored = find_receipt(connection, BINDING_LOCAL, asked.client_command_id, COMMAND, digest)
    if stored is not None:
        return _again(connection, stored)
    require_open_room(connection, asked.room_id)
    position = count_open(connection)
    if position >= MAX_OPEN:
        raise RefusedError(
            f"{position} requests wait for the assistant already. Wait for an answer, or cancel "
            "one with “groupx assistant cancel”.",
            code=ErrorCode.QUEUE_CAPACITY_REACHED,
            details={"limit": MAX_OPEN},
        )
    request = SideMessage(
        message_id=new_id("side"),
        role="user",
        content=asked.content,
        created_at=now,
        status="queued",
        room_id=asked.room_id,
    )
    _insert(connection, request)
    _prune(connection)
    result = {"requestId": request.message_id, "position": position}
    store_receipt(connection, BINDING_LOCAL, asked.client_command_id, COMMAND, digest, result, now)
    return Taken(request, position, is_new=True)


def _again(connection: sqlite3.Connection, stored: dict[str, Any]) -> Taken:
    known = read_side(connection, str(stored["requestId"]))
    return Taken(known, int(stored["position"]), is_new=False)


def next_request(connection: sqlite3.Connection) -> SideMessage | None:
    """The oldest request that waits."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM assistant_conversation_messages WHERE status IN {_OPEN}"
        " AND status = 'queued' ORDER BY created_at, message_id LIMIT 1"
    ).fetchone()
    return None if row is None else _message(connection, row)


def open_requests(connection: sqlite3.Connection) -> list[SideMessage]:
    """Requests that wait or are answered, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM assistant_conversation_messages WHERE status IN {_OPEN}"
        " ORDER BY created_at, message_id LIMIT ?",
        (MAX_OPEN + 1,),
    ).fetchall()
    return [_message(connection, row) for row in rows]


def count_open(connection: sqlite3.Connection) -> int:
    """How many requests wait or are answered."""
    row = connection.execute(
        f"SELECT count(*) FROM assistant_conversation_messages WHERE status IN {_OPEN}"
    ).fetchone()
    return int(row[0])


def begin_request(connection: sqlite3.Connection, request_id: str) -> bool:
    """Mark as running, before anything leaves; False when it was cancelled meanwhile."""
    cursor = connection.execute(
        "UPDATE assistant_conversation_messages SET status = 'running'"
        " WHERE message_id = ? AND status = 'queued'",
        (request_id,),
    )
    return cursor.rowcount == 1


def end_request(connection: sqlite3.Connection, end: RequestEnd, now: str) -> list[SideMessage]:
    """End a request, once, with its answer; the changed messages (none when it had ended)."""
    cursor = connection.execute(
        "UPDATE assistant_conversation_messages SET status = ?, error_code = ?, error_message = ?"
        f" WHERE message_id = ? AND status IN {_OPEN}",
        (end.status, end.error_code, end.error_message, end.request_id),
    )
    if cursor.rowcount != 1:
        return []
    changed = [read_side(connection, end.request_id)]
    if end.content:
        answer = SideMessage(
            message_id=new_id("side"),
            role="assistant",
            content=end.content,
            created_at=now,
            request_id=end.request_id,
            room_id=changed[0].room_id,
            cut=end.is_cut,
        )
        _insert(connection, answer)
        changed.append(answer)
    return changed


def cancel_request(
    connection: sqlite3.Connection, asked: CancelAssistant, now: str
) -> AssistantCancelled:
    """End a request that waits; one that runs is left to its program (`status` says which).

    Raises: RefusedError (UNKNOWN_EVENT, CLIENT_COMMAND_CONFLICT).
    """

    def act() -> dict[str, Any]:
        target = _to_cancel(connection, asked.request_id)
        if target is None:
            return {"accepted": False}
        if target.status == "queued":
            target = end_request(connection, RequestEnd(target.message_id, "cancelled"), now)[0]
        is_open = target.status == "running"
        return {
            "accepted": is_open or target.status == "cancelled",
            "requestId": target.message_id,
            "status": target.status,
        }

    content = {"requestId": asked.request_id}
    stored = once(connection, asked.client_command_id, "assistant.cancel", content, act, now)
    return AssistantCancelled.model_validate(stored)


def _to_cancel(connection: sqlite3.Connection, request_id: str | None) -> SideMessage | None:
    """The named request; else the one being answered, else the newest that waits."""
    if request_id is not None:
        return read_side(connection, request_id)
    waiting = open_requests(connection)
    running = [message for message in waiting if message.status == "running"]
    chosen = running or waiting[-1:]
    return chosen[0] if chosen else None


def settle_side(connection: sqlite3.Connection, now: str) -> list[SideMessage]:
    """At start: what an earlier server was answering may have been worked on; say so, and return
    the changed messages."""
    left = [
        row[0]
        for row in connection.execute(
            f"SELECT message_id FROM assistant_conversation_messages WHERE status IN {_OPEN}"
            " AND status = 'running'"
        )
    ]
    changed: list[SideMessage] = []
    for request_id in left:
        message = (
            "The server stopped while this was being answered. What was done until then stands in "
            "the room; nothing was sent again."
        )
        code = ErrorCode.TURN_INTERRUPTED
        end = RequestEnd(request_id, "interrupted", error_code=code, error_message=message)
        changed += end_request(connection, end, now)
    return changed


def read_side(connection: sqlite3.Connection, message_id: str) -> SideMessage:
    """One message. Raises: RefusedError (UNKNOWN_EVENT)."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM assistant_conversation_messages WHERE message_id = ?",
        (message_id,),
    ).fetchone()
    if row is None:
        raise RefusedError(
            f"There is no message “{safe_line(message_id, 80)}” in the conversation with the "
            "assistant (any more). “groupx assistant history” shows it.",
            code=ErrorCode.UNKNOWN_EVENT,
        )
    return _message(connection, row)


def answer_of(connection: sqlite3.Connection, request_id: str) -> SideMessage | None:
    """The answer to a request, if there is one."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM assistant_conversation_messages WHERE request_id = ? LIMIT 1",
        (request_id,),
    ).fetchone()
    return None if row is None else _message(connection, row)


def list_side(
    connection: sqlite3.Connection, before: str | None, limit: int
) -> tuple[list[SideMessage], str | None]:
    """The newest messages (before one), oldest first, and the `before` of the page before.

    Raises: RefusedError (UNKNOWN_EVENT).
    """
    clause = "1"
    values: tuple[str, ...] = ()
    if before is not None:
        edge = read_side(connection, before)
        clause = "(created_at, message_id) < (?, ?)"
        values = (edge.created_at, edge.message_id)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM assistant_conversation_messages WHERE {clause}"
        " ORDER BY created_at DESC, message_id DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    page = [_message(connection, row) for row in reversed(rows[:limit])]
    return page, page[0].message_id if len(rows) > limit else None


def clear_side(connection: sqlite3.Connection) -> int:
    """Forget the conversation; what was done stays in the rooms.

    Raises: RefusedError (STORE_CONFLICT) while a request is open.
    """
    if number := count_open(connection):
        raise RefusedError(
            f"The assistant still has {counted(number, 'open request')}. Wait for them, or cancel "
            "them first.",
            code=ErrorCode.STORE_CONFLICT,
        )
    connection.execute("DELETE FROM assistant_acts")
    return connection.execute("DELETE FROM assistant_conversation_messages").rowcount


def blank_side(connection: sqlite3.Connection, message_id: str) -> int:
    """Put tombstones in the place of a message's text and of what its acts say; return 1."""
    connection.execute(
        "UPDATE assistant_acts SET summary = ? WHERE request_id = ?", (TOMBSTONE, message_id)
    )
    return connection.execute(
        "UPDATE assistant_conversation_messages SET content = ?1, error_message ="
        " CASE WHEN error_message IS NULL THEN NULL ELSE ?1 END WHERE message_id = ?2",
        (TOMBSTONE, message_id),
    ).rowcount


def insert_act(connection: sqlite3.Connection, request_id: str, act: AssistantAct) -> None:
    """Add an act to its request."""
    connection.execute(
        "INSERT INTO assistant_acts(act_id, request_id, tool, summary, room_id, event_id,"
        " occurred_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            act.act_id,
            request_id,
            act.tool,
            act.summary,
            act.room_id,
            act.event_id,
            act.occurred_at,
        ),
    )


def acts_of(connection: sqlite3.Connection, request_id: str) -> Sequence[AssistantAct]:
    """What was done for a request, in order."""
    rows = connection.execute(
        "SELECT act_id, tool, summary, room_id, event_id, occurred_at FROM assistant_acts"
        " WHERE request_id = ? ORDER BY rowid LIMIT ?",
        (request_id, MAX_ACTS),
    )
    names = ("act_id", "tool", "summary", "room_id", "event_id", "occurred_at")
    return [AssistantAct(**dict(zip(names, row, strict=True))) for row in rows]


def _insert(connection: sqlite3.Connection, message: SideMessage) -> None:
    connection.execute(
        f"INSERT INTO assistant_conversation_messages({_COLUMNS})"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            message.message_id,
            message.role,
            message.content,
            message.created_at,
            message.status,
            message.request_id,
            message.room_id,
            message.error_code,
            message.error_message,
            int(message.cut),
        ),
    )


def _prune(connection: sqlite3.Connection) -> None:
    """Keep the newest messages; an open request is never among the oldest."""
    edge = connection.execute(
        "SELECT created_at, message_id FROM assistant_conversation_messages"
        " ORDER BY created_at DESC, message_id DESC LIMIT 1 OFFSET ?",
        (MAX_KEPT,),
    ).fetchone()
    if edge is None:
        return
    gone = "(created_at, message_id) <= (?, ?)"
    connection.execute(
        "DELETE FROM assistant_acts WHERE request_id IN (SELECT message_id FROM"
        f" assistant_conversation_messages WHERE {gone})",
        edge,
    )
    connection.execute(f"DELETE FROM assistant_conversation_messages WHERE {gone}", edge)


def _message(connection: sqlite3.Connection, row: tuple[Any, ...]) -> SideMessage:
    names = _COLUMNS.replace(" ", "").split(",")
    fields = dict(zip(names, row, strict=True))
    acts = acts_of(connection, row[0]) if row[1] == "user" else ()
    return SideMessage(**{**fields, "cut": bool(fields["cut"]), "acts": tuple(acts)})
