"""The tools for memory and identity, over `rooms/agentmemories`."""

from __future__ import annotations

from groupx_server.ledger.callers import Caller
from groupx_server.ledger.ownrecords import Wanted
from groupx_server.mcp import teaching
from groupx_server.mcp.arguments import (
    CoreMemoryArguments,
    IdentityArguments,
    IdentityReadArguments,
    MemoryArguments,
    MemorySearchArguments,
)
from groupx_server.mcp.desk import Tool
from groupx_server.rooms.agentmemories import AgentMemories, Note
from groupx_server.rooms.recordresults import (
    IdentityKept,
    IdentityReadResult,
    MemoryKept,
    MemorySearchResult,
)
from groupx_shared.ids import agent_actor
from groupx_shared.wire.base import WireModel


class RecordTools:
    """What agents remember."""

    def __init__(self, memories: AgentMemories) -> None:
        self._memories = memories

    def tools(self) -> list[Tool[Caller]]:
        """All of them."""
        return [
            Tool(
                "memory_search",
                teaching.MEMORY_SEARCH,
                MemorySearchArguments,
                self._search,
                (MemorySearchResult,),
                True,
            ),
            Tool(
                "memory_remember",
                teaching.MEMORY_REMEMBER,
                MemoryArguments,
                self._remember,
                (MemoryKept,),
            ),
            Tool(
                "core_memory_remember",
                teaching.CORE_MEMORY_REMEMBER,
                CoreMemoryArguments,
                self._remember_own,
                (MemoryKept,),
            ),
            Tool(
                "identity_read",
                teaching.IDENTITY_READ,
                IdentityReadArguments,
                self._identity,
                (IdentityReadResult,),
                True,
            ),
            Tool(
                "identity_remember",
                teaching.IDENTITY_REMEMBER,
                IdentityArguments,
                self._remember_identity,
                (IdentityKept,),
            ),
        ]

    async def _search(self, caller: Caller, given: MemorySearchArguments) -> WireModel:
        if given.memory_id is not None:
            return await self._memories.read(caller, given.memory_id, given.offset)
        filters = {
            "scope_type": given.scope,
            "agent_memory_type": given.agent_memory_type,
            "kind": given.kind,
            "subject_actor_id": _actor(given.subject_actor_id),
        }
        wanted = Wanted(
            query=given.query,
            filters={name: value for name, value in filters.items() if value is not None},
            include_history=given.include_history,
            cursor=given.cursor,
            limit=given.limit,
        )
        return await self._memories.search(caller, wanted)

    async def _remember(self, caller: Caller, given: MemoryArguments) -> WireModel:
        note = _note(given, _actor(given.subject_actor_id))
        return await self._memories.remember(caller, note)

    async def _remember_own(self, caller: Caller, given: CoreMemoryArguments) -> WireModel:
        return await self._memories.remember_own(caller, _note(given))

    async def _identity(self, caller: Caller, given: IdentityReadArguments) -> WireModel:
        if given.identity_id is not None:
            return await self._memories.identity_text(caller, given.identity_id, given.offset)
        return await self._memories.identity(
            caller, given.cursor, given.limit, include_history=given.include_history
        )

    async def _remember_identity(self, caller: Caller, given: IdentityArguments) -> WireModel:
        return await self._memories.remember_identity(caller, _note(given))


def _note(given: CoreMemoryArguments | IdentityArguments, subject: str | None = None) -> Note:
    return Note(given.client_command_id, given.kind, given.content, given.source_event_id, subject)


def _actor(name: str | None) -> str | None:
    """`codex` means `agent:codex`."""
    return name if name is None or ":" in name else agent_actor(name)
