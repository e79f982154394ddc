"""The tool calls of one ACP turn, kept whole from partial updates.

Owns the latest known state of each call. Invariants: a call starts once (an update for an unknown
call creates it, since some agents never announce one); fields of an update replace, absent ones
stay; `updated` never follows `ended`: a change after the end is given as `ended` again. Nothing
an agent sends raises. The counterpart is `acp_turn.py`, which feeds it.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_text
from groupx_server.agents.tool_calls import ENDED, ToolCalls
from groupx_server.domain.native import ToolCall, ToolProgress, ToolStatus

_STATUSES: Final[dict[str, ToolStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "error": "failed",
}
_OUTPUT_KEYS: Final = ("output", "stdout", "content", "message", "text")


class AcpToolCalls(ToolCalls):
    """All tool calls of one ACP turn."""

    def update(self, fields: dict[str, Any]) -> list[ToolProgress]:
        """Take a `tool_call`, a `tool_call_update` or a permission's `toolCall`."""
        call_id = fields.get("toolCallId")
        if not isinstance(call_id, str) or not call_id:
            return []
        old = self.find(call_id) or ToolCall(call_id, status="in_progress")
        return self.put(_merge(old, fields))


def _merge(old: ToolCall, fields: dict[str, Any]) -> ToolCall:
    status = _STATUSES.get(as_text(fields.get("status")), old.status)
    if old.status in ENDED and status not in ENDED:
        status = old.status
    content = _objects(fields["content"]) if "content" in fields else old.content
    if not content and status in ENDED:
        content = _from_raw_output(fields.get("rawOutput"))
    return ToolCall(
        call_id=old.call_id,
        title=as_text(fields.get("title")) or old.title,
        kind=as_text(fields.get("kind")) or old.kind,
        status=status,
        raw_input=fields.get("rawInput", old.raw_input),
        content=content,
        locations=_objects(fields["locations"]) if "locations" in fields else old.locations,
    )


def _from_raw_output(raw: Any) -> tuple[dict[str, Any], ...]:
    """Some agents give the result only as vendor data: take its text, if it has one."""
    if isinstance(raw, dict):
        raw = next((raw[key] for key in _OUTPUT_KEYS if as_text(raw.get(key))), None)
    text = as_text(raw)
    return ({"type": "content", "content": {"type": "text", "text": text}},) if text else ()


def _objects(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value if isinstance(item, dict))
