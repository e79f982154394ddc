"""Memory and identity as use cases: each command once, each author from its credential."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from groupx_server.ledger.accept import Source
from groupx_server.ledger.commands import once
from groupx_server.ledger.identity_records import (
    NewIdentity,
    identity_history,
    list_identity,
    read_identity,
    remember_identity,
    retract_identity,
    supersede_identity,
)
from groupx_server.ledger.memory import (
    NewMemory,
    list_memory,
    memory_history,
    pin,
    read_memory,
    remember,
    retract,
    supersede,
)
from groupx_server.ledger.records import Author
from groupx_server.ledger.recordsearch import Asked, search_identity, search_memory
from groupx_server.rooms.searching import Searching
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.wire.base import WireModel
from groupx_shared.wire.memory import (
    IdentityList,
    IdentityReply,
    MemoryList,
    MemoryReply,
    MemoryScope,
    PinMemory,
    RememberIdentity,
    RememberMemory,
    SupersedeIdentity,
    SupersedeMemory,
)
from groupx_shared.wire.requests import CommandRequest

Reply = TypeVar("Reply", bound=WireModel)
Act = Callable[[sqlite3.Connection, str], WireModel]


class Memories:
    """What people do with memory and identity records."""

    def __init__(self, runtime: Runtime, searching: Searching) -> None:
        self._runtime = runtime
        self._searching = searching

    async def list_memory(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> MemoryList:
        """Records, newest first."""
        query = partial(
            list_memory,
            filters=filters,
            include_history=include_history,
            cursor=cursor,
            limit=limit,
        )
        return await self._runtime.ledger.read(query)

    async def search_memory(self, asked: Asked) -> MemoryList:
        """Records that fit, the best first. Raises: RefusedError for a foreign cursor."""
        await self._searching.catch_up()
        now = self._runtime.clock.now()
        return await self._runtime.ledger.read(partial(search_memory, asked=asked, now=now))

    async def search_identity(self, asked: Asked) -> IdentityList:
        """Records that fit, the best first. Raises: RefusedError for a foreign cursor."""
        await self._searching.catch_up()
        now = self._runtime.clock.now()
        return await self._runtime.ledger.read(partial(search_identity, asked=asked, now=now))

    async def read_memory(self, memory_id: str) -> MemoryReply:
        """One record in any state."""
        found = await self._runtime.ledger.read(partial(read_memory, memory_id=memory_id))
        return MemoryReply(memory=found)

    async def memory_history(self, memory_id: str) -> MemoryList:
        """All versions of a record, newest first."""
        return await self._runtime.ledger.read(partial(memory_history, memory_id=memory_id))

    async def remember(self, request: RememberMemory, source: Source) -> MemoryReply:
        """Keep something."""
        memory = NewMemory(
            scope=MemoryScope(type=request.scope.type, id=request.scope.id),
            kind=request.kind,
            content=request.content,
            author=_author(source),
            subject_actor_id=request.subject_actor_id,
            source_event_id=request.source_event_id,
            is_pinned=request.pinned,
            **({"room_id": request.scope.id} if request.scope.type == "room" else {}),
        )
        return await self._once(
            request.client_command_id,
            "memory.remember",
            request,
            source,
            lambda book, now: MemoryReply(memory=remember(book, memory, now)),
            MemoryReply,
        )

    async def supersede(
        self, memory_id: str, request: SupersedeMemory, source: Source
    ) -> MemoryReply:
        """Correct a record."""

        def act(book: sqlite3.Connection, now: str) -> MemoryReply:
            record = supersede(
                book,
                memory_id,
                request.content,
                _author(source),
                now,
                kind=request.kind,
                source_event_id=request.source_event_id,
            )
            return MemoryReply(memory=record)

        name = f"memory.supersede:{memory_id}"
        return await self._once(request.client_command_id, name, request, source, act, MemoryReply)

    async def retract(self, memory_id: str, request: CommandRequest, source: Source) -> MemoryReply:
        """Take a record back."""
        return await self._once(
            request.client_command_id,
            f"memory.retract:{memory_id}",
            request,
            source,
            lambda book, now: MemoryReply(memory=retract(book, memory_id, _author(source), now)),
            MemoryReply,
        )

    async def pin(self, memory_id: str, request: PinMemory, source: Source) -> MemoryReply:
        """Pin or unpin a record."""
        return await self._once(
            request.client_command_id,
            f"memory.pin:{memory_id}",
            request,
            source,
            lambda book, now: MemoryReply(
                memory=pin(book, memory_id, request.pinned, _author(source), now)
            ),
            MemoryReply,
        )

    async def list_identity(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> IdentityList:
        """Records, newest first."""
        query = partial(
            list_identity,
            filters=filters,
            include_history=include_history,
            cursor=cursor,
            limit=limit,
        )
        return await self._runtime.ledger.read(query)

    async def read_identity(self, identity_id: str) -> IdentityReply:
        """One record in any state."""
        found = await self._runtime.ledger.read(partial(read_identity, identity_id=identity_id))
        return IdentityReply(identity=found)

    async def identity_history(self, identity_id: str) -> IdentityList:
        """All versions of a record, newest first."""
        return await self._runtime.ledger.read(partial(identity_history, identity_id=identity_id))

    async def remember_identity(self, request: RememberIdentity, source: Source) -> IdentityReply:
        """Say something of an agent."""
        identity = NewIdentity(
            subject_actor_id=request.subject_actor_id,
            kind=request.kind,
            content=request.content,
            author=_author(source),
            source_event_id=request.source_event_id,
        )
        return await self._once(
            request.client_command_id,
            "identity.remember",
            request,
            source,
            lambda book, now: IdentityReply(identity=remember_identity(book, identity, now)),
            IdentityReply,
        )

    async def supersede_identity(
        self, identity_id: str, request: SupersedeIdentity, source: Source
    ) -> IdentityReply:
        """Correct a record."""

        def act(book: sqlite3.Connection, now: str) -> IdentityReply:
            record = supersede_identity(
                book,
                identity_id,
                request.content,
                _author(source),
                now,
                kind=request.kind,
                source_event_id=request.source_event_id,
            )
            return IdentityReply(identity=record)

        name = f"identity.supersede:{identity_id}"
        return await self._once(
            request.client_command_id, name, request, source, act, IdentityReply
        )

    async def retract_identity(
        self, identity_id: str, request: CommandRequest, source: Source
    ) -> IdentityReply:
        """Take a record back."""

        def act(book: sqlite3.Connection, now: str) -> IdentityReply:
            return IdentityReply(identity=retract_identity(book, identity_id, _author(source), now))

        name = f"identity.retract:{identity_id}"
        return await self._once(
            request.client_command_id, name, request, source, act, IdentityReply
        )

    async def _once(
        self,
        client_command_id: str,
        command_type: str,
        request: WireModel,
        source: Source,
        act: Act,
        reply: type[Reply],
    ) -> Reply:
        content = request.model_dump(mode="json", exclude={"client_command_id"})
        now = self._runtime.clock.now()

        def step(book: sqlite3.Connection) -> Reply:
            def do() -> dict[str, Any]:
                return act(book, now).model_dump(mode="json", by_alias=True, exclude_none=True)

            stored = once(
                book,
                client_command_id,
                command_type,
                content,
                do,
                now,
                binding_id=source.binding_id,
            )
            return reply.model_validate(stored)

        return await self._runtime.ledger.write(step)


def _author(source: Source) -> Author:
    return Author(source.actor_id, source.source_kind)
