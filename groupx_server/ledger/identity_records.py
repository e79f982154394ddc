"""Identity records: who an agent is in this house, in three perspectives (seed §7).

By itself (author = subject), by a person, by another agent. An observation by another agent is
always a `note` and never becomes the subject's own word.
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
    require_agent,
    require_source,
    require_text,
)
from groupx_server.ledger.recordtable import RecordTable
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM, new_id
from groupx_shared.wire.memory import IdentityList, IdentityRecord

_COLUMNS: Final = (
    "identity_id, subject_actor_id, author_actor_id, kind, content, source_event_id, source_kind,"
    " status, supersedes_identity_id, created_at, retracted_at"
)
FILTERS: Final = {
    "subject_actor_id": "subject_actor_id",
    "author_actor_id": "author_actor_id",
    "kind": "kind",
    "status": "status",
    "perspective": (
        "CASE WHEN author_actor_id = subject_actor_id THEN 'self'"
        " WHEN author_actor_id LIKE 'agent:%' THEN 'others' ELSE 'people' END"
    ),
}
"""Names of filters to the SQL that must equal the value; a status asks for history by itself."""


@dataclass(frozen=True, slots=True)
class NewIdentity:
    """What is to be said about an agent."""

    subject_actor_id: str
    kind: str
    content: str
    author: Author
    source_event_id: str | None = None
    supersedes: str | None = None
    room_id: str = MAIN_ROOM


def remember_identity(
    connection: sqlite3.Connection, identity: NewIdentity, now: str
) -> IdentityRecord:
    """Write a record and its `identity.remembered`. What its author says already is not kept a
    second time: from another source it takes the old one's place, else the old one is returned.
    Raises: RefusedError."""
    require_agent(connection, identity.subject_actor_id)
    require_source(connection, identity.source_event_id)
    if (known := _said_already(connection, identity)) is not None:
        if identity.source_event_id in (None, known.source_event_id):
            return known
        return _replace(connection, replace(identity, supersedes=known.identity_id), now)
    record = _insert(connection, identity, now)
    _announce(connection, "identity.remembered", record, identity, now)
    return record


def supersede_identity(
    connection: sqlite3.Connection,
    identity_id: str,
    content: str,
    author: Author,
    now: str,
    *,
    kind: str | None = None,
    source_event_id: str | None = None,
) -> IdentityRecord:
    """Write a correction; an agent corrects only what it wrote itself. Raises: RefusedError."""
    old = read_identity(connection, identity_id)
    require_active(old.status, "record")
    _check_author(old, author)
    new = NewIdentity(
        subject_actor_id=old.subject_actor_id,
        kind=kind or old.kind,
        content=content,
        author=author,
        source_event_id=source_event_id,
        supersedes=identity_id,
    )
    return _replace(connection, new, now)


def retract_identity(
    connection: sqlite3.Connection, identity_id: str, author: Author, now: str
) -> IdentityRecord:
    """Take a record back; it stays in the history and is told to nobody."""
    old = read_identity(connection, identity_id)
    require_active(old.status, "record")
    _check_author(old, author)
    _end(connection, identity_id, "retracted", now)
    record = read_identity(connection, identity_id)
    told = record.model_copy(update={"content": ""})
    source = NewIdentity(old.subject_actor_id, old.kind, "", author)
    _announce(connection, "identity.retracted", told, source, now)
    return record


def read_identity(connection: sqlite3.Connection, identity_id: str) -> IdentityRecord:
    """One record in any state. Raises: RefusedError (UNKNOWN_IDENTITY)."""
    return IDENTITY.read(connection, identity_id)


def list_identity(
    connection: sqlite3.Connection,
    filters: Mapping[str, str],
    *,
    include_history: bool = False,
    cursor: str | None = None,
    limit: int = 100,
) -> IdentityList:
    """Records, newest first, by the given filters (names of `FILTERS`)."""
    records, following = IDENTITY.page(
        connection, filters, include_history=include_history, cursor=cursor, limit=limit
    )
    return IdentityList(items=records, next_cursor=following)


def identity_history(connection: sqlite3.Connection, identity_id: str) -> IdentityList:
    """All versions of a record, newest first. Raises: RefusedError (UNKNOWN_IDENTITY)."""
    return IdentityList(items=IDENTITY.history(connection, identity_id))


def _replace(connection: sqlite3.Connection, new: NewIdentity, now: str) -> IdentityRecord:
    """Write a record in the place of the one it supersedes."""
    if new.supersedes is not None:
        _end(connection, new.supersedes, "superseded", None)
    record = _insert(connection, new, now)
    _announce(connection, "identity.superseded", record, new, now)
    return record


def _said_already(connection: sqlite3.Connection, identity: NewIdentity) -> IdentityRecord | None:
    """The active record in which the same author says the same of the same agent."""
    # `+`: SQLite would else take the length of what is asked for, a constant, and not the index's.
    found = connection.execute(
        "SELECT identity_id FROM identity_records INDEXED BY identity_same_words_idx"
        " WHERE subject_actor_id = ?1 AND length(content) = length(?2) AND status = 'active'"
        " AND +content = ?2 AND kind = ?3 AND author_actor_id = ?4 LIMIT 1",
        (
            identity.subject_actor_id,
            identity.content,
            _kind_of(identity),
            identity.author.actor_id,
        ),
    ).fetchone()
    return None if found is None else read_identity(connection, found[0])


def _is_observed(identity: NewIdentity) -> bool:
    """Another agent says it."""
    author_id = identity.author.actor_id
    return author_id.startswith("agent:") and author_id != identity.subject_actor_id


def _kind_of(identity: NewIdentity) -> str:
    return "note" if _is_observed(identity) else identity.kind


def _check_author(record: IdentityRecord, author: Author) -> None:
    is_agent = author.actor_id.startswith("agent:")
    if is_agent and record.author_actor_id != author.actor_id:
        raise RefusedError(
            "An agent corrects and retracts only what it wrote itself.",
            code=ErrorCode.MCP_BINDING_MISMATCH,
        )


def _end(
    connection: sqlite3.Connection, identity_id: str, status: str, retracted_at: str | None
) -> None:
    connection.execute(
        "UPDATE identity_records SET status = ?, retracted_at = ? WHERE identity_id = ?"
        " AND status = 'active'",
        (status, retracted_at, identity_id),
    )


def _insert(connection: sqlite3.Connection, identity: NewIdentity, now: str) -> IdentityRecord:
    require_text(identity.content)
    author = identity.author
    row = (
        new_id("identity"),
        identity.subject_actor_id,
        author.actor_id,
        _kind_of(identity),
        identity.content,
        identity.source_event_id,
        "adapter" if _is_observed(identity) else author.source_kind,
        "active",
        identity.supersedes,
        now,
        None,
    )
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO identity_records({_COLUMNS}) VALUES ({marks})", row)
    return _record(row)


def _announce(
    connection: sqlite3.Connection,
    kind: str,
    record: IdentityRecord,
    source: NewIdentity,
    now: str,
) -> None:
    event = NewEvent(
        event_id=new_id("evt"),
        room_id=source.room_id,
        type=kind,
        actor_id=source.author.actor_id,
        correlation_id=source.author.root or new_id("corr"),
        causation_id=record.source_event_id,
        occurred_at=now,
        body={"record": record.model_dump(mode="json", by_alias=True, exclude_none=True)},
        provenance={
            "sourceKind": source.author.source_kind,
            "authorActorId": source.author.actor_id,
            "subjectActorId": record.subject_actor_id,
        },
    )
    insert_event(connection, event)


def _record(row: tuple[Any, ...]) -> IdentityRecord:
    return IdentityRecord(
        identity_id=row[0],
        subject_actor_id=row[1],
        author_actor_id=row[2],
        kind=row[3],
        content=row[4],
        source_event_id=row[5],
        source_kind=row[6],
        status=row[7],
        supersedes_identity_id=row[8],
        created_at=row[9],
        retracted_at=row[10],
    )


IDENTITY: Final = RecordTable[IdentityRecord](
    "identity", _COLUMNS, FILTERS, _record, ErrorCode.UNKNOWN_IDENTITY
)
"""How the table is read."""
