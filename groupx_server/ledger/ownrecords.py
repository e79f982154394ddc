"""Memory as one agent may see it: its room's, and its own; never another agent's.

Without words by the tables' order, newest first; with words by the search index, which holds what
is active.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groupx_server.ledger.memory import list_memory, read_memory
from groupx_server.ledger.search import Filters, FoundPage, search
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.memory import MemoryList, MemoryRecord

ROUNDS: Final = 10
"""Pages of the index that one search reads at most; the cursor goes on from there."""


@dataclass(frozen=True, slots=True)
class Seeker:
    """Who looks, and where it is."""

    actor_id: str
    room_id: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; `filters` are names of `memory.FILTERS`."""

    query: str | None = None
    filters: Mapping[str, str] = field(default_factory=dict)
    include_history: bool = False
    cursor: str | None = None
    limit: int = 20


def may_see(record: MemoryRecord, seeker: Seeker) -> bool:
    """True for the room's memory and the seeker's own."""
    scope = record.scope
    return (scope.type, scope.id) in {("room", seeker.room_id), ("agent", seeker.actor_id)}


def find_memory(
    connection: sqlite3.Connection, seeker: Seeker, wanted: Wanted, now: str
) -> MemoryList:
    """A page of what the seeker may see. Raises: RefusedError for a foreign cursor."""
    if wanted.query is None:
        return list_memory(
            connection,
            wanted.filters,
            include_history=wanted.include_history,
            cursor=wanted.cursor,
            limit=wanted.limit,
            visible_to=(seeker.room_id, seeker.actor_id),
        )
    return _search(connection, seeker, wanted, now)


def read_own(connection: sqlite3.Connection, seeker: Seeker, memory_id: str) -> MemoryRecord:
    """One record that the seeker may see. Raises: RefusedError (UNKNOWN_MEMORY)."""
    record = read_memory(connection, memory_id)
    if not may_see(record, seeker):
        raise RefusedError(
            f"There is no memory record “{safe_line(memory_id, 80)}” of this room or of yours.",
            code=ErrorCode.UNKNOWN_MEMORY,
        )
    return record


def _search(connection: sqlite3.Connection, seeker: Seeker, wanted: Wanted, now: str) -> MemoryList:
    scope = Filters(kind="memory", type=wanted.filters.get("kind"))
    match wanted.filters.get("scope_type"):
        case "room":
            scope = Filters(kind="memory", type=scope.type, room_id=seeker.room_id)
        case "agent":
            scope = Filters(kind="memory", type=scope.type, actor_id=seeker.actor_id)
    kept: list[MemoryRecord] = []
    cursor = wanted.cursor
    for _ in range(ROUNDS):
        left = wanted.limit - len(kept)
        page: FoundPage = search(
            connection, wanted.query or "", scope, now, cursor=cursor, limit=left
        )
        records = (read_memory(connection, found.ref_id) for found in page.found)
        kept += [record for record in records if _fits(record, seeker, wanted.filters)]
        cursor = page.next_cursor
        if cursor is None or len(kept) >= wanted.limit:
            break
    return MemoryList(items=tuple(kept), next_cursor=cursor)


def _fits(record: MemoryRecord, seeker: Seeker, filters: Mapping[str, str]) -> bool:
    told = {
        "scope_type": record.scope.type,
        "kind": record.kind,
        "agent_memory_type": record.agent_memory_type,
        "subject_actor_id": record.subject_actor_id,
    }
    return may_see(record, seeker) and all(told[name] == value for name, value in filters.items())
