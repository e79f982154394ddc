"""A stand-in for search: one hit for every query that is not `nothing`."""

from __future__ import annotations

from groupx_server.ledger.search import Filters
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.search import SearchHit, SearchIndexReply, SearchReply

HIT = SearchHit(
    kind="message",
    id="evt_1",
    room_id="room:main",
    seq=1,
    actor_id="user:web",
    type="message.created",
    correlation_id="corr_1",
    occurred_at="2026-11-30T12:00:00.000Z",
    snippet="the port is 4310",
    marks=((4, 8),),
    score=1.5,
)


class FakeSearching:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Filters, str | None, int]] = []

    async def find(
        self, text: str, filters: Filters, cursor: str | None, limit: int
    ) -> SearchReply:
        if filters.room_id not in (None, "room:main"):
            raise RefusedError("There is no such room.", code=ErrorCode.UNKNOWN_ROOM)
        self.asked.append((text, filters, cursor, limit))
        return SearchReply(hits=() if text == "nothing" else (HIT,))

    async def rebuild(self, client_command_id: str) -> SearchIndexReply:
        return SearchIndexReply(behind=len(client_command_id))
