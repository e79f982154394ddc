"""What memory and identity records have in common: cursors, sources, the state they are in."""

from __future__ import annotations

import base64
import binascii
import sqlite3
from dataclasses import dataclass
from typing import Any, Final, Literal

from groupx_server.ledger.events import unknown_event
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line

RecordKind = Literal["memory", "identity"]
MAX_VERSIONS: Final = 200
"""Followed on each side of a record: a text that was corrected more often is a diary."""

_VERSIONS: Final[dict[RecordKind, tuple[str, str, str]]] = {
    "memory": ("memory_records", "memory_id", "supersedes_memory_id"),
    "identity": ("identity_records", "identity_id", "supersedes_identity_id"),
}


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes: always derived from the credential. `source_kind`: web, mcp, operator…"""

    actor_id: str
    source_kind: str
    root: str | None = None
    """Correlation id of the work in which an agent writes; None: it begins with this."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page ends: records are listed newest first."""

    created_at: str
    record_id: str

    def encode(self) -> str:
        """As an opaque cursor."""
        return base64.urlsafe_b64encode(f"{self.created_at} {self.record_id}".encode()).decode()

    @classmethod
    def decode(cls, cursor: str) -> Position:
        """Raises: RefusedError when the cursor is not one of ours."""
        try:
            created_at, _, record_id = base64.urlsafe_b64decode(cursor).decode().partition(" ")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            created_at = record_id = ""
        if not record_id:
            raise RefusedError("This cursor is not valid; begin without one.")
        return cls(created_at, record_id)


def page_clause(cursor: str | None, id_column: str) -> tuple[str, list[Any]]:
    """The SQL condition for what comes after a cursor, with its values."""
    if cursor is None:
        return "1", []
    position = Position.decode(cursor)
    return (
        f"(created_at, {id_column}) < (?, ?)",
        [position.created_at, position.record_id],
    )


def versions(connection: sqlite3.Connection, kind: RecordKind, record_id: str) -> list[str]:
    """The ids of all versions of a record, newest first, at most `MAX_VERSIONS` on each side."""
    table, column, older = _VERSIONS[kind]
    up, down = (
        connection.execute(
            f"WITH RECURSIVE chain(id, step) AS (VALUES (?1, 0) UNION"
            f" SELECT {wanted}, step + 1 FROM chain JOIN {table} ON {known} = chain.id"
            f" WHERE {wanted} IS NOT NULL AND step < ?2) SELECT id FROM chain ORDER BY step",
            (record_id, MAX_VERSIONS),
        ).fetchall()
        for wanted, known in ((column, older), (older, column))
    )
    return [each for (each,) in (*up[:0:-1], *down)]


def require_source(connection: sqlite3.Connection, event_id: str | None) -> None:
    """Raises: RefusedError (UNKNOWN_EVENT) when a named source does not exist."""
    if event_id is None:
        return
    row = connection.execute("SELECT 1 FROM events WHERE event_id = ?", (event_id,)).fetchone()
    if row is None:
        raise unknown_event(event_id)


def require_actor(connection: sqlite3.Connection, actor_id: str) -> None:
    """Raises: RefusedError (UNKNOWN_ACTOR)."""
    row = connection.execute("SELECT 1 FROM actors WHERE actor_id = ?", (actor_id,)).fetchone()
    if row is None:
        raise RefusedError(
            f"There is no actor “{safe_line(actor_id, 80)}”. See “groupx agents list”.",
            code=ErrorCode.UNKNOWN_ACTOR,
        )


def require_agent(connection: sqlite3.Connection, actor_id: str) -> None:
    """Raises: RefusedError (UNKNOWN_ACTOR) for what is no agent: people keep nothing of their own,
    and nobody writes down who they are."""
    require_actor(connection, actor_id)
    if not actor_id.startswith("agent:"):
        raise RefusedError(
            f"“{safe_line(actor_id, 80)}” is no agent; give one like agent:codex.",
            code=ErrorCode.UNKNOWN_ACTOR,
        )


def require_active(status: str, what: str) -> None:
    """Raises: RefusedError (STORE_CONFLICT) for a record that is history already."""
    if status != "active":
        raise RefusedError(
            f"This {what} was {status} already; look at the history for what holds now.",
            code=ErrorCode.STORE_CONFLICT,
        )


def require_text(content: str) -> None:
    """Raises: RefusedError for a text of nothing but white space."""
    if not content.strip():
        raise RefusedError("The text is empty. Write what is to be kept and send again.")
