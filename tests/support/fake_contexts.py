"""Context use cases without a ledger, for tests of the HTTP surface only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.context import (
    CompactContext,
    CompactionReply,
    ContextPreview,
    DayInfo,
    DayList,
    LeftOutInfo,
    ResetContext,
    ResetReply,
    SectionInfo,
    SummaryReply,
)
from groupx_shared.wire.replies import ContextUsage


class FakeContexts:
    """One agent, `guide`, and a packet of one section."""

    def __init__(self, room_of: Callable[[str], str]) -> None:
        self._room_of = room_of

    async def usage(self, room_id: str) -> ContextUsage:
        return ContextUsage(
            room_id=self._room_of(room_id),
            through_seq=0,
            estimated_characters=10,
            max_characters=1000,
            compaction_trigger_characters=800,
            utilization_percent=1.0,
            uncompacted_message_count=1,
        )

    async def preview(
        self,
        room_id: str,
        agent: str,
        session: Literal["new", "continued"] | None,
        text: str,
        reply_to: str | None = None,
    ) -> ContextPreview:
        self._room_of(room_id)
        if agent.removeprefix("agent:") != "guide":
            raise RefusedError("There is no such agent.", code=ErrorCode.UNKNOWN_TARGET)
        section = SectionInfo(
            name="room_delta_since_cursor",
            characters=10,
            mandatory=False,
            included=1,
            omitted=1,
            left_out=(LeftOutInfo(id="evt_1", characters=9),),
        )
        return ContextPreview(
            room_id=room_id,
            actor_id="agent:guide",
            session=session or "new",
            text=text,
            characters=len(text),
            soft_characters=750,
            max_characters=1000,
            through_seq=1,
            sections=(section,),
            needs_compaction=True,
        )

    async def summary(self, room_id: str) -> SummaryReply:
        return SummaryReply(room_id=self._room_of(room_id), exists=False)

    async def days(self, room_id: str | None, actor_id: str | None, limit: int) -> DayList:
        day = DayInfo(
            room_id=room_id or "room:main", actor_id=actor_id or "agent:guide", day="2026-11-30"
        )
        return DayList(days=(day,) * min(limit, 1))

    async def compact(self, room_id: str, request: CompactContext) -> CompactionReply:
        self._room_of(room_id)
        return CompactionReply(accepted=True, operation_id="op_1")

    async def reset(self, room_id: str, request: ResetContext) -> ResetReply:
        self._room_of(room_id)
        return ResetReply(reset=True, through_seq=1)
