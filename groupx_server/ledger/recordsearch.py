"""Memory and identity records by words, the best first, narrowed by the filters of their lists.

Invariants: what is found is read from the tables, so it is as it is now; only records that count
are found, because the index holds no others; a filter counts before a page is filled. Counterpart:
`memory` and `identity_records`, which list by time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from groupx_server.ledger.identity_records import identity_among
from groupx_server.ledger.memory import memory_among
from groupx_server.ledger.search import Filters, Found, search
from groupx_shared.wire.memory import IdentityList, IdentityRecord, MemoryList, MemoryRecord

Record = TypeVar("Record", MemoryRecord, IdentityRecord)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for; `filters` are names of the list's `FILTERS`. `visible_to`: only the
    memory of this room and of this agent."""

    words: str
    filters: Mapping[str, str]
    cursor: str | None
    limit: int
    visible_to: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Table(Generic[Record]):
    kind: Literal["memory", "identity"]
    among: Callable[[sqlite3.Connection, Sequence[str], Mapping[str, str]], dict[str, Record]]


def search_memory(connection: sqlite3.Connection, asked: Asked, now: str) -> MemoryList:
    """A page of memory records that fit. Raises: RefusedError for a foreign cursor."""
    table: _Table[MemoryRecord] = _Table("memory", memory_among)
    found, cursor = _search(connection, table, asked, now)
    return MemoryList(items=tuple(found), next_cursor=cursor)


def search_identity(connection: sqlite3.Connection, asked: Asked, now: str) -> IdentityList:
    """A page of identity records that fit. Raises: RefusedError for a foreign cursor."""
    table: _Table[IdentityRecord] = _Table("identity", identity_among)
    found, cursor = _search(connection, table, asked, now)
    return IdentityList(items=tuple(found), next_cursor=cursor)


def _search(
    connection: sqlite3.Connection, table: _Table[Record], asked: Asked, now: str
) -> tuple[list[Record], str | None]:
    kept: dict[str, Record] = {}

    def fits(found: Found) -> bool:
        kept.update(table.among(connection, [found.ref_id], asked.filters))
        return found.ref_id in kept

    page = search(
        connection,
        asked.words,
        _narrowed(table.kind, asked),
        now,
        cursor=asked.cursor,
        limit=asked.limit,
        keeps=fits,
    )
    return [kept[found.ref_id] for found in page.found], page.next_cursor


def _narrowed(kind: str, asked: Asked) -> Filters:
    """What the index itself can narrow by; the tables do the rest."""
    filters = asked.filters
    scope_type, scope_id = filters.get("scope_type"), filters.get("scope_id")
    seen_in, seen_by = asked.visible_to or (None, None)
    return Filters(
        kind=kind,
        type=filters.get("kind"),
        room_id=scope_id if scope_type == "room" else None,
        owner_id=scope_id if scope_type == "agent" else None,
        actor_id=filters.get("author_actor_id") or filters.get("subject_actor_id"),
        seen_in=seen_in,
        seen_by=seen_by,
    )
