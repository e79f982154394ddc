"""Removing texts for good, without a server: notes what it was asked, answers at once."""

from __future__ import annotations

import asyncio
from typing import Any

from groupx_shared.errors import ErrorCode, GroupXError, RefusedError
from groupx_shared.wire.events import Event
from groupx_shared.wire.forgetting import RedactReply, ToldSession
from groupx_tui.client.removals import Removals
from groupx_tui.state.remembered import Kept
from support.fake_records import memory
from support.room_events import PERSON, agent_actor, event

SECRET = "the key is under the mat"
BEYOND = (
    "The sessions of codex in room:main were told it: “groupx context reset --room main”.",
    "Exports, and backups that were made by command or copied elsewhere: delete them.",
)


def removed(**more: Any) -> RedactReply:
    """What a server answers."""
    fields: dict[str, Any] = {
        "audit_event_id": "evt_99",
        "event_ids": ("evt_1", "evt_8"),
        "record_ids": ("mem_5",),
        "summaries": 1,
        "days": 2,
        "quote_event_ids": ("evt_3",),
        "sessions": (ToldSession(actor_id="agent:codex", room_id="room:main"),),
        "beyond": BEYOND,
    }
    return RedactReply(**(fields | more))


def purged(**more: Any) -> RedactReply:
    """What a server answers after a purge."""
    return removed(purged=True, checked=True, removed_backups=("a.bak.db",), **more)


class FakeRemovals(Removals):
    """Knows a message, and a turn with reasoning, a tool call and an answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.reply = removed()
        self.refusal: GroupXError | None = None
        self.go_on = asyncio.Event()
        """Cleared, a removal waits for it."""
        self.go_on.set()
        codex = agent_actor("codex")
        self.parts = [
            event("turn.reasoning.recorded", {"turnId": "turn_1", "content": "I look up the key."},
                  seq=2, actor=codex, event_id="evt_2"),
            event("tool.progress.recorded", {"turnId": "turn_1", "details": {
                "title": "grep key", "input": {"word": "key"}}}, seq=3, actor=codex,
                event_id="evt_22"),
            event("message.created", {"turnId": "turn_1", "content": f"You said that {SECRET}."},
                  seq=4, actor=codex, event_id="evt_3"),
            event("turn.completed", {"turnId": "turn_1"}, seq=4, actor=codex, event_id="evt_4"),
        ]  # fmt: skip

    async def redact(self, ref_id: str, *, purge: bool, copies: bool) -> RedactReply:
        self.asked.append(("redact", ref_id, purge, copies))
        await self.go_on.wait()
        if self.refusal is not None:
            raise self.refusal
        return self.reply

    async def event(self, event_id: str) -> Event:
        self.asked.append(("event", event_id))
        for part in self.parts:
            if part.event_id == event_id:
                return part
        kind, body = "message.created", {"content": SECRET}
        if event_id == "evt_queued":
            kind, body = "turn.queued", {}
        return event(kind, body, seq=1, actor=PERSON, event_id=event_id)

    async def event_at(self, room_id: str, seq: int) -> Event:
        self.asked.append(("event_at", room_id, seq))
        if seq > 5:
            raise RefusedError(f"This room has no event {seq}.", code=ErrorCode.UNKNOWN_EVENT)
        return await self.event(f"evt_{seq}")

    async def record(self, record_id: str) -> Kept:
        self.asked.append(("record", record_id))
        return memory(5, SECRET, record_id=record_id)

    async def parts_of(self, room_id: str, turn_id: str, end_seq: int) -> list[Event]:
        self.asked.append(("parts_of", turn_id, end_seq))
        return self.parts
