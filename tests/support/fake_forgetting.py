"""Redaction without a ledger, for tests of the HTTP surface only."""

from __future__ import annotations

from typing import Literal

from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.forgetting import PurgeInfo, PurgeList, RedactContent, RedactReply

_KNOWN = {"event": "evt_1", "memory": "mem_1", "identity": "identity_1", "side": "side_1"}
_UNKNOWN = {
    "event": ErrorCode.UNKNOWN_EVENT,
    "memory": ErrorCode.UNKNOWN_MEMORY,
    "identity": ErrorCode.UNKNOWN_IDENTITY,
    "side": ErrorCode.UNKNOWN_EVENT,
}


class FakeForgetting:
    """Knows one thing of each kind."""

    def __init__(self) -> None:
        self.removed: list[str] = []

    async def redact(
        self,
        kind: Literal["event", "memory", "identity", "side"],
        ref_id: str,
        request: RedactContent,
        source: Source,
    ) -> RedactReply:
        if ref_id != _KNOWN[kind]:
            raise RefusedError("There is no such thing.", code=_UNKNOWN[kind])
        self.removed.append(ref_id)
        return RedactReply(
            audit_event_id="evt_9",
            event_ids=("evt_1",) if kind == "event" else (),
            record_ids=() if kind == "event" else (ref_id,),
            purged=request.purge,
            beyond=("Exports.",),
        )

    def purges(self) -> PurgeList:
        started = "2026-11-30T09:15:00.000Z"
        info = PurgeInfo(kind="event", ref_id="evt_1", stage="index", steps=7, started_at=started)
        return PurgeList(purges=(info,))
