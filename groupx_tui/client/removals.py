"""Removing texts for good over the server, and finding what a turn consists of to choose from.

Each method raises what `ServerClient` raises. The other half is `groupx_server.http.routes.
forgetting`.
"""

from __future__ import annotations

from typing import Final

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import new_id
from groupx_shared.wire.events import Event, EventType
from groupx_shared.wire.forgetting import RedactContent, RedactReply
from groupx_shared.wire.memory import IdentityReply, MemoryReply
from groupx_shared.wire.requests import MAX_PAGE
from groupx_tui.client.http import ServerClient, segment
from groupx_tui.client.refusals import request_of
from groupx_tui.state.remembered import Kept, kept_identity, kept_memory

PURGE_S: Final = 3_600.0
"""For a purge, which reads, and once writes, the whole ledger and a backup of it; how it stands is
told meanwhile."""
MAX_TURN_PAGES: Final = 20
"""Read back from a turn's end to its beginning."""
KINDS: Final = {"mem_": "memory", "identity_": "identity", "side_": "assistant/messages"}
"""Where an id that begins so is removed; any other is an event's."""
TEXT_TYPES: Final = (
    EventType.MESSAGE_CREATED,
    EventType.TURN_REASONING_RECORDED,
    EventType.TOOL_PROGRESS_RECORDED,
    EventType.TURN_QUEUED,
    EventType.TURN_COMPLETED,
    EventType.TURN_FAILED,
    EventType.TURN_CANCELLED,
    EventType.TURN_INTERRUPTED,
)


class Removals:
    """Through one client."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    async def redact(self, ref_id: str, *, purge: bool, copies: bool) -> RedactReply:
        """Remove the text of an event, a record or a message to the assistant, by its id."""
        kind = next((kind for start, kind in KINDS.items() if ref_id.startswith(start)), "events")
        body = request_of(
            RedactContent, client_command_id=new_id("cmd"), purge=purge, copies=copies
        )
        path = f"/api/{kind}/{segment(ref_id)}/redact"
        return await self._client.post(RedactReply, path, body, silence_s=PURGE_S)

    async def event(self, event_id: str) -> Event:
        """One event. Raises: RefusedError (UNKNOWN_EVENT)."""
        return await self._client.event(event_id)

    async def record(self, record_id: str) -> Kept:
        """One record. Raises: RefusedError (UNKNOWN_MEMORY, UNKNOWN_IDENTITY)."""
        if record_id.startswith("identity_"):
            path = f"/api/identity/{segment(record_id)}"
            return kept_identity((await self._client.get(IdentityReply, path)).identity)
        path = f"/api/memory/{segment(record_id)}"
        return kept_memory((await self._client.get(MemoryReply, path)).memory)

    async def event_at(self, room_id: str, seq: int) -> Event:
        """The event of a room with this number. Raises: RefusedError (UNKNOWN_EVENT)."""
        page = await self._client.events(room_id, after=max(0, seq - 1), limit=1)
        for event in page.events:
            if event.seq == seq:
                return event
        raise RefusedError(f"This room has no event {seq:,}.", code=ErrorCode.UNKNOWN_EVENT)

    async def parts_of(self, room_id: str, turn_id: str, end_seq: int) -> list[Event]:
        """The events of an ended turn that can hold a text, oldest first."""
        found: list[Event] = []
        before: int | None = end_seq + 1
        for _ in range(MAX_TURN_PAGES):
            page = await self._client.events(
                room_id, before=before, limit=MAX_PAGE, types=TEXT_TYPES
            )
            own = [event for event in page.events if event.body.get("turnId") == turn_id]
            found = [*own, *found]
            is_begun = any(event.type == EventType.TURN_QUEUED for event in own)
            if is_begun or not page.has_more_before or not page.events:
                break
            before = page.events[0].seq
        return [event for event in found if event.type != EventType.TURN_QUEUED]
