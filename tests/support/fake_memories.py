"""Memory use cases without a ledger, for tests of the HTTP surface only."""

from __future__ import annotations

from collections.abc import Mapping

from groupx_server.ledger.accept import Source
from groupx_server.ledger.recordsearch import Asked
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.memory import (
    IdentityList,
    IdentityRecord,
    IdentityReply,
    MemoryList,
    MemoryRecord,
    MemoryReply,
    MemoryScope,
    PinMemory,
    RememberIdentity,
    RememberMemory,
    SupersedeIdentity,
    SupersedeMemory,
)
from groupx_shared.wire.requests import CommandRequest

WHEN = "2026-01-31T09:15:00.250Z"
MEMORY_ID = "mem_1"
IDENTITY_ID = "identity_1"


def memory_record(content: str = "the port is 4310", pinned: bool = False) -> MemoryRecord:
    return MemoryRecord(
        memory_id=MEMORY_ID,
        scope=MemoryScope(type="room", id="room:main"),
        kind="fact",
        author_actor_id="user:web",
        content=content,
        source_kind="web",
        status="active",
        created_at=WHEN,
        pinned_at=WHEN if pinned else None,
    )


def identity_record(content: str = "brief") -> IdentityRecord:
    return IdentityRecord(
        identity_id=IDENTITY_ID,
        subject_actor_id="agent:guide",
        author_actor_id="user:web",
        kind="preference",
        content=content,
        source_kind="web",
        status="active",
        created_at=WHEN,
    )


class FakeMemories:
    """One record of each kind."""

    async def list_memory(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> MemoryList:
        return MemoryList(items=(memory_record(),))

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        """Searches."""

    async def search_memory(self, asked: Asked) -> MemoryList:
        self.asked.append(asked)
        return MemoryList(items=(memory_record(),))

    async def search_identity(self, asked: Asked) -> IdentityList:
        self.asked.append(asked)
        return IdentityList(items=(identity_record(),))

    async def read_memory(self, memory_id: str) -> MemoryReply:
        _known_memory(memory_id)
        return MemoryReply(memory=memory_record())

    async def memory_history(self, memory_id: str) -> MemoryList:
        _known_memory(memory_id)
        return MemoryList(items=(memory_record(),))

    async def remember(self, request: RememberMemory, source: Source) -> MemoryReply:
        return MemoryReply(memory=memory_record(request.content, request.pinned))

    async def supersede(
        self, memory_id: str, request: SupersedeMemory, source: Source
    ) -> MemoryReply:
        _known_memory(memory_id)
        return MemoryReply(memory=memory_record(request.content))

    async def retract(self, memory_id: str, request: CommandRequest, source: Source) -> MemoryReply:
        _known_memory(memory_id)
        return MemoryReply(memory=memory_record())

    async def pin(self, memory_id: str, request: PinMemory, source: Source) -> MemoryReply:
        _known_memory(memory_id)
        return MemoryReply(memory=memory_record(pinned=request.pinned))

    async def list_identity(
        self, filters: Mapping[str, str], include_history: bool, cursor: str | None, limit: int
    ) -> IdentityList:
        return IdentityList(items=(identity_record(),))

    async def read_identity(self, identity_id: str) -> IdentityReply:
        _known_identity(identity_id)
        return IdentityReply(identity=identity_record())

    async def identity_history(self, identity_id: str) -> IdentityList:
        _known_identity(identity_id)
        return IdentityList(items=(identity_record(),))

    async def remember_identity(self, request: RememberIdentity, source: Source) -> IdentityReply:
        return IdentityReply(identity=identity_record(request.content))

    async def supersede_identity(
        self, identity_id: str, request: SupersedeIdentity, source: Source
    ) -> IdentityReply:
        _known_identity(identity_id)
        return IdentityReply(identity=identity_record(request.content))

    async def retract_identity(
        self, identity_id: str, request: CommandRequest, source: Source
    ) -> IdentityReply:
        _known_identity(identity_id)
        return IdentityReply(identity=identity_record())


def _known_memory(memory_id: str) -> None:
    if memory_id != MEMORY_ID:
        raise RefusedError("There is no such record.", code=ErrorCode.UNKNOWN_MEMORY)


def _known_identity(identity_id: str) -> None:
    if identity_id != IDENTITY_ID:
        raise RefusedError("There is no such record.", code=ErrorCode.UNKNOWN_IDENTITY)
