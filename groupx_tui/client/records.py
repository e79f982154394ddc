"""What is remembered, what agents are told, what was used: read and changed over the server.

Each method is one endpoint and raises what `ServerClient` raises. The other half is
`groupx_server.http.routes.memory` and `context`.
"""

from __future__ import annotations

from typing import Final

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.wire.agents import AgentInfo
from groupx_shared.wire.base import RequestModel
from groupx_shared.wire.context import (
    CompactContext,
    CompactionReply,
    ContextPreview,
    ResetContext,
    ResetReply,
    SummaryReply,
)
from groupx_shared.wire.memory import (
    IdentityList,
    IdentityReply,
    MemoryList,
    MemoryReply,
    PinMemory,
    RememberIdentity,
    RememberMemory,
    ScopeRequest,
    SupersedeIdentity,
    SupersedeMemory,
)
from groupx_shared.wire.replies import TurnInfo, UsageReply
from groupx_shared.wire.requests import CommandRequest
from groupx_tui.client.http import ServerClient, segment
from groupx_tui.client.refusals import request_of
from groupx_tui.client.shelf import Query, Shelf
from groupx_tui.state.remembered import Kept, Place, Sought, kept_identity, kept_memory

LAST_TURNS: Final = 50
"""Looked at for the last failure of an agent: what is older says nothing of how it is."""
MAX_DRAFT_CHARS: Final = 1_000
"""Of a message that is not sent yet, to find what fits it."""


class Records:
    """Reads and changes records through one client."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    def shelf(self, sought: Sought) -> Shelf:
        """Memory and identity that fit, to be read piece by piece."""
        return Shelf(self.memory_page, self.identity_page, sought)

    async def memory_page(self, query: Query) -> tuple[list[Kept], str | None]:
        """One page of memory records and the cursor of the next one."""
        found = await self._client.get(MemoryList, "/api/memory", query)
        return [kept_memory(record) for record in found.items], found.next_cursor

    async def identity_page(self, query: Query) -> tuple[list[Kept], str | None]:
        """One page of identity records and the cursor of the next one."""
        found = await self._client.get(IdentityList, "/api/identity", query)
        return [kept_identity(record) for record in found.items], found.next_cursor

    async def versions(self, kept: Kept) -> list[Kept]:
        """All versions of a record, newest first."""
        path = f"{_path(kept)}/history"
        if kept.is_identity:
            told = await self._client.get(IdentityList, path)
            return [kept_identity(record) for record in told.items]
        found = await self._client.get(MemoryList, path)
        return [kept_memory(record) for record in found.items]

    async def remember(
        self, place: Place, owner_id: str, kind: str, content: str, *, pinned: bool = False
    ) -> Kept:
        """Write something down: for a room, as what an agent keeps, or about an agent."""
        command = new_id("cmd")
        if place == "identity":
            said = request_of(
                RememberIdentity,
                client_command_id=command,
                subject_actor_id=owner_id,
                kind=kind,
                content=content,
            )
            reply = await self._client.post(IdentityReply, "/api/identity", said)
            return kept_identity(reply.identity)
        body = request_of(
            RememberMemory,
            client_command_id=command,
            scope=ScopeRequest(type="room" if place == "room" else "agent", id=owner_id),
            kind=kind,
            content=content,
            pinned=pinned,
        )
        return kept_memory((await self._client.post(MemoryReply, "/api/memory", body)).memory)

    async def correct(self, kept: Kept, kind: str, content: str) -> Kept:
        """Put a corrected text in the place of a record."""
        model = SupersedeIdentity if kept.is_identity else SupersedeMemory
        body = request_of(model, client_command_id=new_id("cmd"), kind=kind, content=content)
        return await self._changed(kept, "supersede", body)

    async def retract(self, kept: Kept) -> Kept:
        """Take a record back."""
        body = request_of(CommandRequest, client_command_id=new_id("cmd"))
        return await self._changed(kept, "retract", body)

    async def pin(self, kept: Kept, *, pinned: bool) -> Kept:
        """Let a memory record go with every turn, or not any more."""
        body = request_of(PinMemory, client_command_id=new_id("cmd"), pinned=pinned)
        return await self._changed(kept, "pin", body)

    async def _changed(self, kept: Kept, verb: str, body: RequestModel) -> Kept:
        path = f"{_path(kept)}/{verb}"
        if kept.is_identity:
            return kept_identity((await self._client.post(IdentityReply, path, body)).identity)
        return kept_memory((await self._client.post(MemoryReply, path, body)).memory)

    async def preview(
        self, room_id: str, actor_id: str, draft: str, reply_to: str | None = None
    ) -> ContextPreview:
        """What an agent would be told with the message `draft` (its first `MAX_DRAFT_CHARS`), in
        reply to an event if one is given."""
        text = draft[:MAX_DRAFT_CHARS] or None
        query = {"agent": actor_id, "text": text, "replyTo": reply_to}
        path = f"/api/rooms/{segment(room_id)}/context"
        return await self._client.get(ContextPreview, path, query)

    async def summary(self, room_id: str) -> SummaryReply:
        """What stands for a room's older messages."""
        return await self._client.get(
            SummaryReply, f"/api/rooms/{segment(room_id)}/context/summary"
        )

    async def compact(self, room_id: str) -> CompactionReply:
        """Have a room's older messages summed up."""
        body = request_of(CompactContext, client_command_id=new_id("cmd"))
        path = f"/api/rooms/{segment(room_id)}/context/compact"
        return await self._client.post(CompactionReply, path, body)

    async def reset(self, room_id: str) -> ResetReply:
        """Tell agents nothing any more of what was said in a room until now, in new sessions."""
        body = request_of(ResetContext, client_command_id=new_id("cmd"))
        path = f"/api/rooms/{segment(room_id)}/context/reset"
        return await self._client.post(ResetReply, path, body)

    async def usage(self, *, actor_id: str | None = None) -> UsageReply:
        """What ended turns have used, of one agent or of all."""
        return await self._client.get(UsageReply, "/api/usage", {"actorId": actor_id})

    async def agent(self, actor_id: str) -> AgentInfo:
        """An agent's card. Raises: RefusedError (UNKNOWN_ACTOR)."""
        for card in (await self._client.agents()).agents:
            if card.actor_id == actor_id:
                return card
        raise RefusedError(f"There is no agent {actor_id} any more.", code=ErrorCode.UNKNOWN_ACTOR)

    async def last_failure(self, actor_id: str) -> TurnInfo | None:
        """The newest of an agent's last turns that ended without an answer, in whatever room."""
        found = await self._client.turns(status="ended", actor_id=actor_id, limit=LAST_TURNS)
        return next((turn for turn in found.turns if turn.error_code is not None), None)

    async def raw_event(self, event_id: str) -> str:
        """One event as it stands in the ledger: JSON."""
        content = await self._client.transport.ask("GET", f"/api/events/{segment(event_id)}")
        return content.decode("utf-8", "replace")

    async def raw_turn(self, turn_id: str) -> str:
        """One turn as the server tells it: JSON."""
        content = await self._client.transport.ask("GET", f"/api/turns/{segment(turn_id)}")
        return content.decode("utf-8", "replace")


def _path(kept: Kept) -> str:
    return f"/api/{'identity' if kept.is_identity else 'memory'}/{segment(kept.record_id)}"
