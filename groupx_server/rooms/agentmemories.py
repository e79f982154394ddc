"""What agents remember through their tools: their room's memory, their own core, who they are.

Whose it is follows from the binding: an agent writes its own core and its own identity only, and
sees its room's memory and its own. The counterpart for people is `memories`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from groupx_server.ledger.callers import Caller, CallerTurn, require_turn
from groupx_server.ledger.commands import once
from groupx_server.ledger.correlation import read_told
from groupx_server.ledger.identity_records import (
    NewIdentity,
    list_identity,
    read_identity,
    remember_identity,
)
from groupx_server.ledger.memory import NewMemory, remember
from groupx_server.ledger.ownrecords import Seeker, Wanted, find_memory, read_own
from groupx_server.ledger.records import Author
from groupx_server.rooms.recordpages import (
    identity_item,
    identity_page,
    memory_item,
    memory_page,
)
from groupx_server.rooms.recordresults import (
    IdentityKept,
    IdentityReadResult,
    MemoryKept,
    MemorySearchResult,
)
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.memory import MemoryScope

Kept = TypeVar("Kept", bound=WireModel)


@dataclass(frozen=True, slots=True)
class Note:
    """What an agent wants to keep. `command_id` is its own for this note."""

    command_id: str
    kind: str
    content: str
    source_event_id: str | None = None
    subject_actor_id: str | None = None


class AgentMemories:
    """Memory and identity of all agents."""

    def __init__(self, runtime: Runtime, searching: Searching) -> None:
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._searching = searching

    async def search(self, caller: Caller, wanted: Wanted) -> MemorySearchResult:
        """Memory of the room and the caller's own. Raises: RefusedError."""
        await self._ledger.read(partial(require_turn, caller=caller))
        if wanted.query is not None:
            await self._searching.catch_up()
        now = self._runtime.clock.now()

        def query(connection: sqlite3.Connection) -> MemorySearchResult:
            turn = require_turn(connection, caller)
            found = find_memory(connection, _seeker(caller, turn), wanted, now)
            return memory_page(connection, found, is_listed=wanted.query is None)

        return await self._ledger.read(query)

    async def read(self, caller: Caller, memory_id: str, offset: int) -> MemorySearchResult:
        """A part of one long record. Raises: RefusedError (UNKNOWN_MEMORY)."""

        def query(connection: sqlite3.Connection) -> MemorySearchResult:
            turn = require_turn(connection, caller)
            record = read_own(connection, _seeker(caller, turn), memory_id)
            return MemorySearchResult(items=(memory_item(connection, record, offset=offset),))

        return await self._ledger.read(query)

    async def remember(self, caller: Caller, note: Note) -> MemoryKept:
        """Keep something for everybody in the room. Raises: RefusedError."""
        return await self._keep_memory(caller, note, MemoryScope(type="room", id=caller.room_id))

    async def remember_own(self, caller: Caller, note: Note) -> MemoryKept:
        """Keep something in the caller's own core memory. Raises: RefusedError."""
        return await self._keep_memory(caller, note, MemoryScope(type="agent", id=caller.actor_id))

    async def _keep_memory(self, caller: Caller, note: Note, scope: MemoryScope) -> MemoryKept:
        memory = NewMemory(
            scope=scope,
            kind=note.kind,
            content=self._checked(note.content),
            author=Author(caller.actor_id, "mcp"),
            room_id=caller.room_id,
            subject_actor_id=note.subject_actor_id,
            source_event_id=note.source_event_id,
        )

        def act(connection: sqlite3.Connection, author: Author, now: str) -> MemoryKept:
            record = remember(connection, replace(memory, author=author), now)
            return MemoryKept(memory=memory_item(connection, record))

        return await self._once(caller, f"mcp.remember:{scope.type}", note, act, MemoryKept)

    async def identity(
        self, caller: Caller, cursor: str | None, limit: int, *, include_history: bool
    ) -> IdentityReadResult:
        """What is said about who the caller is here. Raises: RefusedError."""

        def query(connection: sqlite3.Connection) -> IdentityReadResult:
            require_turn(connection, caller)
            found = list_identity(
                connection,
                {"subject_actor_id": caller.actor_id},
                include_history=include_history,
                cursor=cursor,
                limit=limit,
            )
            return identity_page(connection, found)

        return await self._ledger.read(query)

    async def identity_text(
        self, caller: Caller, identity_id: str, offset: int
    ) -> IdentityReadResult:
        """A part of one long record about the caller. Raises: RefusedError (UNKNOWN_IDENTITY)."""

        def query(connection: sqlite3.Connection) -> IdentityReadResult:
            require_turn(connection, caller)
            record = read_identity(connection, identity_id)
            if record.subject_actor_id != caller.actor_id:
                raise RefusedError(
                    f"“{safe_line(identity_id, 80)}” is not about you.",
                    code=ErrorCode.UNKNOWN_IDENTITY,
                )
            return IdentityReadResult(items=(identity_item(connection, record, offset=offset),))

        return await self._ledger.read(query)

    async def remember_identity(self, caller: Caller, note: Note) -> IdentityKept:
        """Say something about who the caller is, in its own word. Raises: RefusedError."""
        identity = NewIdentity(
            subject_actor_id=caller.actor_id,
            kind=note.kind,
            content=self._checked(note.content),
            author=Author(caller.actor_id, "mcp"),
            source_event_id=note.source_event_id,
            room_id=caller.room_id,
        )

        def act(connection: sqlite3.Connection, author: Author, now: str) -> IdentityKept:
            record = remember_identity(connection, replace(identity, author=author), now)
            return IdentityKept(identity=identity_item(connection, record))

        return await self._once(caller, "mcp.remember:identity", note, act, IdentityKept)

    def _checked(self, content: str) -> str:
        limit = self._runtime.limits.message_characters
        if len(content) > limit:
            raise RefusedError(
                f"The text has {len(content):,} characters; the limit is {limit:,}. Keep the core "
                "of it.",
                code=ErrorCode.MESSAGE_TOO_LARGE,
                details={"size": len(content), "limit": limit, "unit": "characters"},
            )
        return safe_text(content)

    async def _once(
        self,
        caller: Caller,
        command_type: str,
        note: Note,
        act: Callable[[sqlite3.Connection, Author, str], Kept],
        reply: type[Kept],
    ) -> Kept:
        now = self._runtime.clock.now()
        content = {
            "kind": note.kind,
            "content": note.content,
            "sourceEventId": note.source_event_id,
            "subjectActorId": note.subject_actor_id,
        }

        def step(connection: sqlite3.Connection) -> Kept:
            turn: CallerTurn = require_turn(connection, caller)
            if note.source_event_id is not None:
                read_told(connection, note.source_event_id, caller.room_id)

            def do() -> dict[str, Any]:
                author = Author(caller.actor_id, "mcp", turn.correlation_id)
                kept = act(connection, author, now)
                return kept.model_dump(mode="json", by_alias=True, exclude_none=True)

            stored = once(
                connection,
                f"{turn.turn_id}/{note.command_id}",
                command_type,
                content,
                do,
                now,
                binding_id=caller.binding_id,
            )
            return reply.model_validate(stored)

        return await self._ledger.write(step)


def _seeker(caller: Caller, turn: CallerTurn) -> Seeker:
    return Seeker(caller.actor_id, caller.room_id, turn.correlation_id)
