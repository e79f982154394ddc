"""What is remembered, what agents are told, what was used: read and changed over the server.

Each method is one endpoint and raises what `ServerClient` raises. The other half is
`groupx_server.http.routes.memory` and `context`.
"""

from __future__ import annotations

from typing import Final

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.context import ContextPreview
from groupx_shared.wire.memory import (
    MemoryList,
    MemoryRecord,
    MemoryReply,
    PinMemory,
    RememberMemory,
    ScopeRequest,
    SupersedeMemory,
    WritableKind,
)
from groupx_shared.wire.replies import UsageReply
from groupx_shared.wire.requests import MAX_PAGE, CommandRequest
from groupx_tui.client.http import ServerClient, segment
from groupx_tui.client.refusals import request_of

MAX_DRAFT_CHARS: Final = 1_000
"""Of a message that is not sent yet, to find what fits it."""


class Records:
    """Reads and changes records through one client."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    async def memories(self, *, with_history: bool = False, limit: int = MAX_PAGE) -> MemoryList:
        """The newest records of all scopes, newest first."""
        query = {"includeHistory": "true" if with_history else None, "limit": limit}
        return await self._client.get(MemoryList, "/api/memory", query)

    async def versions(self, memory_id: str) -> MemoryList:
        """All versions of a record, newest first."""
        path = f"/api/memory/{segment(memory_id)}/history"
        return await self._client.get(MemoryList, path)

    async def remember(self, room_id: str, kind: WritableKind, content: str) -> MemoryRecord:
        """Write something down for a room."""
        body = request_of(
            RememberMemory,
            client_command_id=new_id("cmd"),
            scope=ScopeRequest(type="room", id=room_id),
            kind=kind,
            content=content,
        )
        return (await self._client.post(MemoryReply, "/api/memory", body)).memory

    async def correct(self, memory_id: str, content: str) -> MemoryRecord:
        """Put a corrected text in the place of a record."""
        body = request_of(SupersedeMemory, client_command_id=new_id("cmd"), content=content)
        return await self._changed(memory_id, "supersede", body)

    async def retract(self, memory_id: str) -> MemoryRecord:
        """Take a record back."""
        body = request_of(CommandRequest, client_command_id=new_id("cmd"))
        return await self._changed(memory_id, "retract", body)

    async def pin(self, memory_id: str, *, pinned: bool) -> MemoryRecord:
        """Let a record go with every turn, or not any more."""
        body = request_of(PinMemory, client_command_id=new_id("cmd"), pinned=pinned)
        return await self._changed(memory_id, "pin", body)

    async def _changed(
        self, memory_id: str, verb: str, body: SupersedeMemory | CommandRequest | PinMemory
    ) -> MemoryRecord:
        path = f"/api/memory/{segment(memory_id)}/{verb}"
        return (await self._client.post(MemoryReply, path, body)).memory

    async def preview(self, room_id: str, actor_id: str, draft: str) -> ContextPreview:
        """What an agent would be told with the message `draft`."""
        query = {"agent": actor_id, "text": draft[:MAX_DRAFT_CHARS] or None}
        path = f"/api/rooms/{segment(room_id)}/context"
        return await self._client.get(ContextPreview, path, query)

    async def usage(self, *, actor_id: str | None = None) -> UsageReply:
        """What ended turns have used, of one agent or of all."""
        return await self._client.get(UsageReply, "/api/usage", {"actorId": actor_id})

    async def agent(self, actor_id: str) -> AgentInfo:
        """An agent's card. Raises: RefusedError (UNKNOWN_ACTOR)."""
        for card in (await self._client.agents()).agents:
            if card.actor_id == actor_id:
                return card
        raise RefusedError(f"There is no agent {actor_id} any more.", code=ErrorCode.UNKNOWN_ACTOR)

    async def raw_event(self, event_id: str) -> str:
        """One event as it stands in the ledger: JSON."""
        content = await self._client.transport.ask("GET", f"/api/events/{segment(event_id)}")
        return content.decode("utf-8", "replace")

    async def raw_turn(self, turn_id: str) -> str:
        """One turn as the server tells it: JSON."""
        content = await self._client.transport.ask("GET", f"/api/turns/{segment(turn_id)}")
        return content.decode("utf-8", "replace")
