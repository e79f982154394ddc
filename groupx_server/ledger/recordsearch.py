"""Memory and identity records by words, the best first, narrowed by the filters of their lists.

Invariants: what is found is read from the tables, so it is as it is now; only records that count
are found, because the index holds no others. Counterpart: `memory` and `identity_records`, which
list by time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar

from groupx_server.ledger.identity_records import identity_among
from groupx_server.ledger.memory import memory_among
from groupx_server.ledger.search import Filters, search
from groupx_shared.wire.memory import IdentityList, IdentityRecord, MemoryList, MemoryRecord

ROUNDS: Final = 10
"""Pages of the index that one search reads at most; the cursor goes on from there."""
PAGE: Final = 200
"""Rows of the index for one round, where filters may drop most of them."""

Record = TypeVar("Record", MemoryRecord, IdentityRecord)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for; `filters` are names of the list's `FILTERS`."""

    words: str
    filters: Mapping[str, str]
    cursor: str | None
    limit: int


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
    scope = _scope(table.kind, asked.filters)
    kept: list[Record] = []
    cursor = asked.cursor
    for _ in range(ROUNDS):
        # Never more than is still wanted: the cursor stands behind the last row that was read.
        limit = min(PAGE, asked.limit - len(kept))
        page = search(connection, asked.words, scope, now, cursor=cursor, limit=limit)
        ids = [found.ref_id for found in page.found]
        kept += _in_order(ids, table.among(connection, ids, asked.filters))
        cursor = page.next_cursor
        if cursor is None or len(kept) >= asked.limit:
            break
    return kept, cursor


def _in_order(ids: Iterable[str], found: Mapping[str, Record]) -> list[Record]:
    return [found[each] for each in ids if each in found]


def _scope(kind: str, filters: Mapping[str, str]) -> Filters:
    """What the index itself can narrow by; the tables do the rest."""
    is_room = filters.get("scope_type") == "room"
    return Filters(
        kind=kind,
        type=filters.get("kind"),
        room_id=filters.get("scope_id") if is_room else None,
        actor_id=filters.get("author_actor_id") or filters.get("subject_actor_id"),
    )
