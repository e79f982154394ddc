"""Which memory and identity records go into a packet.

Bounded reads by index: an agent's own core and dated memory, what is kept for the root of the
message alone, the room's pinned memory and, of the rest, first what search finds for the current
message, then the newest; and what was said about who the agent is. Only active records; an agent
is never told another agent's core.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from groupx_server.context.packet import Record, Records
from groupx_server.domain.searchtext import words_of
from groupx_server.ledger.identity_records import list_identity
from groupx_server.ledger.memory import list_memory, read_memory
from groupx_server.ledger.search import Filters, search
from groupx_shared.wire.memory import IdentityRecord, MemoryRecord

MAX_RECORDS: Final = 200
"""Of each kind; far more than fit beside a conversation."""
MAX_RELEVANT: Final = 50
ASKED_CHARS: Final = 1_000
"""Of the current message, as a query; what is longer is no question."""


def read_records(
    connection: sqlite3.Connection, room_id: str, actor_id: str, asked: str = "", root: str = ""
) -> Records:
    """Read what a packet for this agent in this room may tell: what is kept for this root alone,
    the room's unpinned memory by how well it fits what is `asked`, all else newest first."""
    own = {"scope_type": "agent", "scope_id": actor_id}
    core = list_memory(connection, {**own, "agent_memory_type": "core"}, limit=MAX_RECORDS).items
    dated = list_memory(connection, {**own, "agent_memory_type": "dated"}, limit=MAX_RECORDS).items
    of_room = {"scope_type": "room", "scope_id": room_id}
    of_root = {"scope_type": "correlation", "scope_id": root}
    pinned = [
        record
        for of in (of_root, of_room)
        for record in list_memory(connection, {**of, "pinned": "true"}, limit=MAX_RECORDS).items
    ]
    roots = list_memory(connection, {**of_root, "pinned": "false"}, limit=MAX_RECORDS).items
    newest = list_memory(connection, {**of_room, "pinned": "false"}, limit=MAX_RECORDS).items
    room = [*roots, *_by_relevance(connection, room_id, asked, newest)]
    identity = list_identity(connection, {"subject_actor_id": actor_id}, limit=MAX_RECORDS).items
    return Records(
        core=[_memory(record) for record in core],
        dated=[_memory(record) for record in dated],
        pinned=[_memory(record) for record in pinned],
        room=[_memory(record) for record in room],
        self_identity=[_said(r) for r in identity if r.author_actor_id == actor_id],
        user_identity=[_said(r) for r in identity if r.author_actor_id.startswith("user:")],
        observed_identity=[
            _said(r)
            for r in identity
            if r.author_actor_id != actor_id and not r.author_actor_id.startswith("user:")
        ],
    )


def _by_relevance(
    connection: sqlite3.Connection, room_id: str, asked: str, newest: Sequence[MemoryRecord]
) -> list[MemoryRecord]:
    """What search finds for the question, best first, then the others, newest first."""
    if not newest:  # there is nothing that could be found
        return []
    filters = Filters(room_id=room_id, kind="memory")
    words = " ".join(words_of(asked[:ASKED_CHARS]))  # no text of a message is an operator
    page = search(connection, words, filters, "", limit=MAX_RELEVANT)
    known = {record.memory_id: record for record in newest}
    found: dict[str, MemoryRecord] = {}
    for hit in page.found:
        record = known.get(hit.ref_id) or read_memory(connection, hit.ref_id)
        if record.status == "active" and record.pinned_at is None:
            found[record.memory_id] = record
    return [*found.values(), *(r for r in newest if r.memory_id not in found)]


def all_records(records: Records) -> Iterator[Record]:
    """Every record of every section."""
    yield from records.core
    yield from records.dated
    yield from records.pinned
    yield from records.room
    yield from records.self_identity
    yield from records.user_identity
    yield from records.observed_identity


def _memory(record: MemoryRecord) -> Record:
    return Record(
        record_id=record.memory_id,
        kind=record.kind,
        author_actor_id=record.author_actor_id,
        source=_source(record.author_actor_id, record.subject_actor_id, record.source_kind),
        at=record.created_at,
        content=record.content,
        subject_actor_id=record.subject_actor_id,
    )


def _said(record: IdentityRecord) -> Record:
    return Record(
        record_id=record.identity_id,
        kind=record.kind,
        author_actor_id=record.author_actor_id,
        source=_source(record.author_actor_id, record.subject_actor_id, record.source_kind),
        at=record.created_at,
        content=record.content,
        subject_actor_id=record.subject_actor_id,
    )


def _source(author: str, subject: str | None, source_kind: str) -> str:
    """Whose word it is, in one label."""
    if source_kind in ("generated_summary", "automatic_rollup", "automatic_turn"):
        return "generated-summary"
    if author.startswith("user:"):
        return "user"
    if subject is None or subject == author:
        return "self" if subject == author else author
    return f"{author}-about-{subject}"
