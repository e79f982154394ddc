"""Memory and identity records by words, the best first, narrowed by the filters of their lists.

Invariants: what is found is read from the tables, so it is as it is now; only records that count
are found, because the index holds no others; a filter counts before a page is filled. Counterpart:
`memory` and `identity_records`, which list by time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from groupx_server.ledger.identity_records import IDENTITY
from groupx_server.ledger.memory import MEMORY
from groupx_server.ledger.recordtable import Record, RecordTable
from groupx_server.ledger.search import Filters, Found, search
from groupx_shared.wire.memory import IdentityList, MemoryList


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for; `filters` are names of the list's `FILTERS`. `visible_to`: only the
    memory of this room, this agent and this root."""

    words: str
    filters: Mapping[str, str]
    cursor: str | None
    limit: int
    visible_to: tuple[str, str, str] | None = None


def search_memory(connection: sqlite3.Connection, asked: Asked, now: str) -> MemoryList:
    """A page of memory records that fit. Raises: RefusedError for a foreign cursor."""
    found, cursor = _search(connection, MEMORY, asked, now)
    return MemoryList(items=tuple(found), next_cursor=cursor)


def search_identity(connection: sqlite3.Connection, asked: Asked, now: str) -> IdentityList:
    """A page of identity records that fit. Raises: RefusedError for a foreign cursor."""
    found, cursor = _search(connection, IDENTITY, asked, now)
    return IdentityList(items=tuple(found), next_cursor=cursor)


def _search(
    connection: sqlite3.Connection, table: RecordTable[Record], asked: Asked, now: str
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
    seen_in, seen_by, seen_for = asked.visible_to or (None, None, "")
    return Filters(
        kind=kind,
        type=filters.get("kind"),
        room_id=scope_id if scope_type == "room" else None,
        owner_id=scope_id if scope_type in ("agent", "correlation") else None,
        actor_id=filters.get("author_actor_id") or filters.get("subject_actor_id"),
        seen_in=seen_in,
        seen_by=seen_by,
        seen_for=seen_for,
    )
