"""Roots in memory: one, `corr_1`."""

from __future__ import annotations

from collections.abc import Callable

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM
from groupx_shared.wire.replies import UsageTotals
from groupx_shared.wire.roots import RootCancelled, RootInfo, RootList, RootReply

ROOT = RootInfo(
    correlation_id="corr_1",
    room_id=MAIN_ROOM,
    message_event_id="evt_1",
    actor_id="user:web",
    actor_name="You",
    excerpt="Review it",
    occurred_at="2026-11-30T12:00:00.000Z",
    status="ended",
    agents=("agent:codex",),
    turns=1,
)


class FakeRoots:
    """Implements `RootCases`; `check_room` refuses an unknown room."""

    def __init__(self, check_room: Callable[[str], str]) -> None:
        self._check_room = check_room

    async def list(
        self, room_id: str | None, status: str, before: int | None, limit: int
    ) -> RootList:
        if room_id is not None:
            self._check_room(room_id)
        return RootList(roots=() if status == "open" else (ROOT,))

    async def show(self, correlation_id: str) -> RootReply:
        self._require(correlation_id)
        return RootReply(root=ROOT, turns=(), usage=UsageTotals())

    async def cancel(self, correlation_id: str, client_command_id: str) -> RootCancelled:
        self._require(correlation_id)
        return RootCancelled(correlation_id=correlation_id, room_id=MAIN_ROOM)

    def _require(self, correlation_id: str) -> None:
        if correlation_id != ROOT.correlation_id:
            raise RefusedError("There is no such root.", code=ErrorCode.UNKNOWN_EVENT)
