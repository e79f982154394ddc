"""Memory as one agent may see it: its room's, its own, and that of the root it works for; never
another agent's.

Without words by the tables' order, newest first; with words by the search index, which holds what
is active.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from groupx_server.ledger.memory import list_memory, read_memory
from groupx_server.ledger.recordsearch import Asked, search_memory
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line
from groupx_shared.wire.memory import MemoryList, MemoryRecord


@dataclass(frozen=True, slots=True)
class Seeker:
    """Who looks, where it is, and for which root it works."""

    actor_id: str
    room_id: str
    root: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; `filters` are names of `memory.FILTERS`."""

    query: str | None = None
    filters: Mapping[str, str] = field(default_factory=dict)
    include_history: bool = False
    cursor: str | None = None
    limit: int = 20


def may_see(record: MemoryRecord, seeker: Seeker) -> bool:
    """True for the room's memory, that of the root, and the seeker's own."""
    scope = record.scope
    return (scope.type, scope.id) in {
        ("room", seeker.room_id),
        ("agent", seeker.actor_id),
        ("correlation", seeker.root),
    }


def find_memory(
    connection: sqlite3.Connection, seeker: Seeker, wanted: Wanted, now: str
) -> MemoryList:
    """A page of what the seeker may see. Raises: RefusedError for a foreign cursor."""
    visible_to = (seeker.room_id, seeker.actor_id, seeker.root)
    if wanted.query is not None:
        words, cursor = wanted.query, wanted.cursor
        asked = Asked(words, wanted.filters, cursor, wanted.limit, visible_to)
        return search_memory(connection, asked, now)
    return list_memory(
        connection,
        wanted.filters,
        include_history=wanted.include_history,
        cursor=wanted.cursor,
        limit=wanted.limit,
        visible_to=visible_to,
    )


def read_own(connection: sqlite3.Connection, seeker: Seeker, memory_id: str) -> MemoryRecord:
    """One record that the seeker may see. Raises: RefusedError (UNKNOWN_MEMORY)."""
    record = read_memory(connection, memory_id)
    if not may_see(record, seeker):
        raise RefusedError(
            f"There is no memory record “{safe_line(memory_id, 80)}” of this room or of yours.",
            code=ErrorCode.UNKNOWN_MEMORY,
        )
    return record
