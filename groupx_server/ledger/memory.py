"""Memory records: written once, superseded or retracted, never changed (seed §6).

Every change is an event in the room it belongs to. Dated records are the engine's: nobody writes
or corrects them by hand, a person may retract them. No agent writes another agent's core.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from groupx_server.ledger.events import NewEvent, insert_event
from groupx_server.ledger.records import (
    Author,
    require_active,
    require_actor,
    require_agent,
    require_source,
    require_text,
)
from groupx_server.ledger.recordtable import RecordTable
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.stops import unknown_root
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.wire.memory import MemoryList, MemoryRecord, MemoryScope

_COLUMNS: Final = (
    "memory_id, scope_type, scope_id, agent_memory_type, kind, author_actor_id,"
    " subject_actor_id, content, source_event_id, source_kind, status, supersedes_memory_id,"
    " created_at, retracted_at, pinned_at"
)
_READ: Final = (
    f"{_COLUMNS}, CASE WHEN agent_memory_type = 'dated' THEN (SELECT local_date"
    " FROM agent_dated_memory_sources WHERE response_event_id = memory_records.source_event_id) END"
)
"""The columns, and the day that a dated record is about."""
FILTERS: Final = {
    "scope_type": "scope_type",
    "scope_id": "scope_id",
    "agent_memory_type": "agent_memory_type",
    "kind": "kind",
    "author_actor_id": "author_actor_id",
    "subject_actor_id": "subject_actor_id",
    "source_event_id": "source_event_id",
    "status": "status",
    "pinned": "CASE WHEN pinned_at IS NULL THEN 'false' ELSE 'true' END",
}
"""Names of filters to the SQL that must equal the value; a status asks for history by itself."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What is to be remembered; `room_id` is where its event stands."""

    scope: MemoryScope
    kind: str
    content: str
    author: Author
    room_id: str = MAIN_ROOM
    agent_memory_type: str | None = None
    subject_actor_id: str | None = None
    source_event_id: str | None = None
    is_pinned: bool = False
    supersedes: str | None = None


def remember(connection: sqlite3.Connection, memory: NewMemory, now: str) -> MemoryRecord:
    """Write a record and its `memory.remembered`. What its author keeps already is not kept twice:
    from another source it takes the old one's place, so that the history has both sources, else the
    old one is returned. Raises: RefusedError."""
    memory = _checked(connection, memory)
    if (known := _kept_already(connection, memory)) is not None:
        return _keep_again(connection, memory, known, now)
    record = _insert(connection, memory, now)
    _announce(connection, "memory.remembered", record, memory.author, memory.room_id, now)
    return record


def supersede(
    connection: sqlite3.Connection,
    memory_id: str,
    content: str,
    author: Author,
    now: str,
    *,
    kind: str | None = None,
    source_event_id: str | None = None,
) -> MemoryRecord:
    """Write a correction: same scope and subject; the old record becomes history.

    Raises: RefusedError (unknown, not active, dated, or not the author's to correct).
    """
    old = read_memory(connection, memory_id)
    require_active(old.status, "record")
    if old.agent_memory_type == "dated":
        raise RefusedError(
            "What a day held is written by its agent; it can be retracted, not corrected."
        )
    _check_own_core(old.scope, old.agent_memory_type, author)
    room_id = _room_of(connection, old)
    new = NewMemory(
        scope=old.scope,
        kind=kind or old.kind,
        content=content,
        author=author,
        room_id=room_id,
        agent_memory_type=old.agent_memory_type,
        subject_actor_id=old.subject_actor_id,
        source_event_id=source_event_id,
        is_pinned=old.pinned_at is not None,
        supersedes=memory_id,
    )
    return _replace(connection, new, now)


def _replace(connection: sqlite3.Connection, new: NewMemory, now: str) -> MemoryRecord:
    """Write a record in the place of the one it supersedes."""
    connection.execute(
        "UPDATE memory_records SET status = 'superseded' WHERE memory_id = ? AND status = 'active'",
        (new.supersedes,),
    )
    record = _insert(connection, new, now)
    _announce(connection, "memory.superseded", record, new.author, new.room_id, now)
    return record


def _kept_already(connection: sqlite3.Connection, memory: NewMemory) -> MemoryRecord | None:
    """The active record in which the same author says the same of the same."""
    # `+`: SQLite would else take the length of what is asked for, a constant, and not the index's.
    found = connection.execute(
        "SELECT memory_id FROM memory_records INDEXED BY memory_same_words_idx"
        " WHERE scope_type = ?1 AND scope_id = ?2 AND length(content) = length(?3)"
        " AND status = 'active' AND +content = ?3 AND kind = ?4 AND author_actor_id = ?5"
        " AND subject_actor_id IS ?6 AND COALESCE(agent_memory_type, 'core') <> 'dated'"
        " LIMIT 1",
        (
            memory.scope.type,
            memory.scope.id,
            memory.content,
            memory.kind,
            memory.author.actor_id,
            memory.subject_actor_id,
        ),
    ).fetchone()
    return None if found is None else read_memory(connection, found[0])


def _keep_again(
    connection: sqlite3.Connection, memory: NewMemory, known: MemoryRecord, now: str
) -> MemoryRecord:
    is_pinned = memory.is_pinned or known.pinned_at is not None
    if memory.source_event_id not in (None, known.source_event_id):
        again = replace(memory, supersedes=known.memory_id, is_pinned=is_pinned)
        return _replace(connection, again, now)
    if is_pinned and known.pinned_at is None:
        return pin(connection, known.memory_id, True, memory.author, now)
    return known


def write_dated(
    connection: sqlite3.Connection,
    memory: NewMemory,
    previous_id: str | None,
    usage: Mapping[str, Any],
    now: str,
) -> MemoryRecord:
    """What a day held, in the place of what was written of it before; `usage` is what it cost."""
    if previous_id is not None:
        connection.execute(
            "UPDATE memory_records SET status = 'superseded' WHERE memory_id = ?"
            " AND status = 'active'",
            (previous_id,),
        )
    record = _insert(connection, memory, now)
    kind = "memory.remembered" if previous_id is None else "memory.superseded"
    _announce(connection, kind, record, memory.author, memory.room_id, now, usage)
    return record


def retract(
    connection: sqlite3.Connection, memory_id: str, author: Author, now: str
) -> MemoryRecord:
    """Take a record back: it stays in the history and is told to nobody."""
    old = read_memory(connection, memory_id)
    require_active(old.status, "record")
    _check_own_core(old.scope, old.agent_memory_type, author)
    connection.execute(
        "UPDATE memory_records SET status = 'retracted', retracted_at = ?, pinned_at = NULL"
        " WHERE memory_id = ?",
        (now, memory_id),
    )
    record = read_memory(connection, memory_id)
    # The event names the record and does not say its text again.
    told = record.model_copy(update={"content": ""})
    _announce(connection, "memory.retracted", told, author, _room_of(connection, old), now)
    return record


def pin(
    connection: sqlite3.Connection, memory_id: str, is_pinned: bool, author: Author, now: str
) -> MemoryRecord:
    """Pin or unpin an active record; nothing happens when it is so already."""
    require_active(read_memory(connection, memory_id).status, "record")
    changed = connection.execute(
        "UPDATE memory_records SET pinned_at = ? WHERE memory_id = ? AND (pinned_at IS NULL) = ?",
        (now if is_pinned else None, memory_id, is_pinned),
    ).rowcount
    record = read_memory(connection, memory_id)
    if changed:
        kind = "memory.pinned" if is_pinned else "memory.unpinned"
        told = record.model_copy(update={"content": ""})
        _announce(connection, kind, told, author, _room_of(connection, record), now)
    return record


def read_memory(connection: sqlite3.Connection, memory_id: str) -> MemoryRecord:
    """One record in any state. Raises: RefusedError (UNKNOWN_MEMORY)."""
    return MEMORY.read(connection, memory_id)


def list_memory(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    *,
    include_history: bool = False,
    cursor: str | None = None,
    limit: int = 100,
    visible_to: tuple[str, str, str] | None = None,
) -> MemoryList:
    """Records, newest first, by the given filters (keys of `FILTERS`). `visible_to`: only the
    memory of this room, this actor and this root."""
    seen = "(scope_type, scope_id) IN (VALUES ('room', ?), ('agent', ?), ('correlation', ?))"
    records, following = MEMORY.page(
        connection,
        filters,
        include_history=include_history,
        cursor=cursor,
        limit=limit,
        only=("1", ()) if visible_to is None else (seen, visible_to),
    )
    return MemoryList(items=records, next_cursor=following)


def memory_history(connection: sqlite3.Connection, memory_id: str) -> MemoryList:
    """All versions of a record, newest first. Raises: RefusedError (UNKNOWN_MEMORY)."""
    return MemoryList(items=MEMORY.history(connection, memory_id))


def _checked(connection: sqlite3.Connection, memory: NewMemory) -> NewMemory:
    """What is to be remembered, with the room where its event stands."""
    require_source(connection, memory.source_event_id)
    if memory.subject_actor_id is not None:
        require_actor(connection, memory.subject_actor_id)
    if memory.scope.type == "room":
        read_room(connection, memory.scope.id)
    if memory.scope.type == "agent":
        require_agent(connection, memory.scope.id)
    _check_own_core(memory.scope, memory.agent_memory_type, memory.author)
    if memory.scope.type != "correlation":
        return memory
    if (room_id := _room_of_root(connection, memory.scope.id)) is None:
        raise unknown_root(memory.scope.id)
    return replace(memory, room_id=room_id)


def _check_own_core(scope: MemoryScope, memory_type: str | None, author: Author) -> None:
    is_agent = author.actor_id.startswith("agent:")
    if is_agent and scope.type == "agent" and scope.id != author.actor_id:
        raise RefusedError(
            f"An agent keeps its own {memory_type or 'core'} memory, not that of {scope.id}.",
            code=ErrorCode.MCP_BINDING_MISMATCH,
        )


def _room_of(connection: sqlite3.Connection, record: MemoryRecord) -> str:
    """Where the events of a record stand: its room or that of its root, else the room of its
    source, else main."""
    if record.scope.type == "room":
        return record.scope.id
    if record.scope.type == "correlation":
        return _room_of_root(connection, record.scope.id) or MAIN_ROOM
    row = connection.execute(
        "SELECT room_id FROM events WHERE event_id = ?", (record.source_event_id,)
    ).fetchone()
    return MAIN_ROOM if row is None else str(row[0])


def _room_of_root(connection: sqlite3.Connection, root: str) -> str | None:
    row = connection.execute(
        "SELECT room_id FROM events WHERE correlation_id = ? ORDER BY seq LIMIT 1", (root,)
    ).fetchone()
    return None if row is None else str(row[0])


def _insert(connection: sqlite3.Connection, memory: NewMemory, now: str) -> MemoryRecord:
    require_text(memory.content)
    memory_id = new_id("mem")
    memory_type = memory.agent_memory_type
    if memory.scope.type == "agent" and memory_type is None:
        memory_type = "core"
    row = (
        memory_id,
        memory.scope.type,
        memory.scope.id,
        memory_type,
        memory.kind,
        memory.author.actor_id,
        memory.subject_actor_id,
        memory.content,
        memory.source_event_id,
        memory.author.source_kind,
        "active",
        memory.supersedes,
        now,
        None,
        now if memory.is_pinned else None,
    )
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO memory_records({_COLUMNS}) VALUES ({marks})", row)
    return read_memory(connection, memory_id)


def _announce(
    connection: sqlite3.Connection,
    kind: str,
    record: MemoryRecord,
    author: Author,
    room_id: str,
    now: str,
    usage: Mapping[str, Any] | None = None,
) -> None:
    body = {"record": record.model_dump(mode="json", by_alias=True, exclude_none=True)}
    if usage:
        body["usage"] = dict(usage)
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=room_id,
        type=kind,
        actor_id=author.actor_id,
        correlation_id=author.root or new_id("corr"),
        causation_id=record.source_event_id,
        occurred_at=now,
        body=body,
        provenance={"sourceKind": author.source_kind, "authorActorId": author.actor_id},
    )
    insert_event(connection, event)


def _record(row: tuple[Any, ...]) -> MemoryRecord:
    return MemoryRecord(
        memory_id=row[0],
        scope=MemoryScope(type=row[1], id=row[2]),
        agent_memory_type=row[3],
        kind=row[4],
        author_actor_id=row[5],
        subject_actor_id=row[6],
        content=row[7],
        source_event_id=row[8],
        source_kind=row[9],
        status=row[10],
        supersedes_memory_id=row[11],
        created_at=row[12],
        retracted_at=row[13],
        pinned_at=row[14],
        day=row[15],
    )


MEMORY: Final = RecordTable[MemoryRecord](
    "memory", _READ, FILTERS, _record, ErrorCode.UNKNOWN_MEMORY
)
"""How the table is read."""
