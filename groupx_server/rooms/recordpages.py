"""Memory and identity records as agents are told of them: with their source, cut to a result."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from groupx_server.ledger.actors import display_name
from groupx_server.ledger.records import Position
from groupx_server.rooms.recordresults import (
    IdentityItem,
    IdentityReadResult,
    MemoryItem,
    MemorySearchResult,
    RecordBase,
)
from groupx_server.rooms.toldtext import LEAST_CHARS, RESULT_CHARS, TEXT_CHARS, part_of, provenance
from groupx_shared.wire.memory import IdentityList, IdentityRecord, MemoryList, MemoryRecord

RECORD_CHARS: Final = 4_000
"""Of one record's text in a list."""

Item = TypeVar("Item", bound=RecordBase)
Record = TypeVar("Record")


def memory_page(
    connection: sqlite3.Connection, found: MemoryList, *, is_listed: bool
) -> MemorySearchResult:
    """As many records as fit into a result. `is_listed`: by time, so that a page can end
    anywhere; a page of the index is told whole, its texts shortened."""
    records = found.items
    share = RECORD_CHARS if is_listed else max(LEAST_CHARS, RESULT_CHARS // max(1, len(records)))

    def item(record: MemoryRecord, max_chars: int) -> MemoryItem:
        return memory_item(connection, record, max_chars=max_chars)

    items = _fitting(records, item, min(share, RECORD_CHARS))
    cursor = found.next_cursor
    if len(items) < len(records):
        last = records[len(items) - 1]
        cursor = Position(last.created_at, last.memory_id).encode()
    return MemorySearchResult(items=tuple(items), next_cursor=cursor)


def identity_page(connection: sqlite3.Connection, found: IdentityList) -> IdentityReadResult:
    """As many records as fit into a result."""
    records = found.items

    def item(record: IdentityRecord, max_chars: int) -> IdentityItem:
        return identity_item(connection, record, max_chars=max_chars)

    items = _fitting(records, item, RECORD_CHARS)
    cursor = found.next_cursor
    if len(items) < len(records):
        last = records[len(items) - 1]
        cursor = Position(last.created_at, last.identity_id).encode()
    return IdentityReadResult(items=tuple(items), next_cursor=cursor)


def _fitting(
    records: Sequence[Record], item: Callable[[Record, int], Item], max_chars: int
) -> list[Item]:
    items: list[Item] = []
    left = RESULT_CHARS
    for record in records:
        told = item(record, max_chars)
        left -= len(told.content)
        if items and left < 0:
            break
        items.append(told)
    return items


def memory_item(
    connection: sqlite3.Connection,
    record: MemoryRecord,
    *,
    max_chars: int = TEXT_CHARS,
    offset: int = 0,
) -> MemoryItem:
    """A record, or a part of its text."""
    part = part_of(_told(record), max_chars, offset)
    return MemoryItem.model_validate(
        {
            "memory_id": record.memory_id,
            "scope": record.scope.type,
            "agent_memory_type": record.agent_memory_type,
            "kind": record.kind,
            "content": part.text,
            "next_offset": part.next_offset,
            "provenance": _by(connection, record.memory_id, record.author_actor_id),
            "subject_actor_id": record.subject_actor_id,
            "status": record.status,
            "created_at": record.created_at,
            "source_event_id": record.source_event_id,
            "pinned": record.pinned_at is not None,
            "supersedes_memory_id": record.supersedes_memory_id,
        }
    )


def identity_item(
    connection: sqlite3.Connection,
    record: IdentityRecord,
    *,
    max_chars: int = TEXT_CHARS,
    offset: int = 0,
) -> IdentityItem:
    """A record, or a part of its text."""
    part = part_of(_told(record), max_chars, offset)
    is_own = record.author_actor_id == record.subject_actor_id
    by_person = record.author_actor_id.startswith("user:")
    return IdentityItem(
        identity_id=record.identity_id,
        perspective="self" if is_own else "person" if by_person else "agent",
        kind=record.kind,
        content=part.text,
        next_offset=part.next_offset,
        provenance=_by(connection, record.identity_id, record.author_actor_id),
        status=record.status,
        created_at=record.created_at,
        source_event_id=record.source_event_id,
        supersedes_identity_id=record.supersedes_identity_id,
    )


def _told(record: MemoryRecord | IdentityRecord) -> str:
    """The text; what was taken back is told to nobody."""
    return "" if record.status == "retracted" else record.content


def _by(connection: sqlite3.Connection, record_id: str, actor_id: str) -> str:
    name = display_name(connection, actor_id)
    return provenance(record_id, actor_id, actor_id.partition(":")[0], name)
