"""Redaction without a ledger, for tests of the HTTP surface only."""

from __future__ import annotations

from typing import Literal

from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.forgetting import RedactContent, RedactReply

_KNOWN = {"event": "evt_1", "memory": "mem_1", "identity": "identity_1", "side": "side_1"}
_UNKNOWN = {
    "event": ErrorCode.UNKNOWN_EVENT,
    "memory": ErrorCode.UNKNOWN_MEMORY,
    "identity": ErrorCode.UNKNOWN_IDENTITY,
    "side": ErrorCode.UNKNOWN_EVENT,
}


class FakeForgetting:
    """Knows one thing of each kind."""

    async def redact(
        self,
        kind: Literal["event", "memory", "identity", "side"],
        ref_id: str,
        request: RedactContent,
        source: Source,
    ) -> RedactReply:
        if ref_id != _KNOWN[kind]:
            raise RefusedError("There is no such thing.", code=_UNKNOWN[kind])
        return RedactReply(
            audit_event_id="evt_9",
            event_ids=("evt_1",) if kind == "event" else (),
            record_ids=() if kind == "event" else (ref_id,),
            purged=request.purge,
            beyond=("Exports.",),
        )
