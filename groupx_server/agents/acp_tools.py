"""The tool calls of one ACP turn, kept whole from partial updates.

Owns the latest known state of each call. Invariants: a call starts once (an update for an unknown
call creates it, since some agents never announce one); fields of an update replace, absent ones
stay; `updated` never follows `ended`: a change after the end is given as `ended` again. Nothing
an agent sends raises. The counterpart is `acp_turn.py`, which feeds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from groupx_server.agents.loose import as_text
from groupx_server.domain.native import ToolCall, ToolProgress, ToolStatus

MAX_TRACKED_CALLS: Final = 2_000
"""A turn with more calls forgets the oldest; only a runaway agent gets there."""
_STATUSES: Final[dict[str, ToolStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "failed": "failed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "error": "failed",
}
_ENDED: Final = frozenset({"completed", "failed", "cancelled"})
_OUTPUT_KEYS: Final = ("output", "stdout", "content", "message", "text")


class ToolCalls:
    """All tool calls of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}

    @property
    def has_open(self) -> bool:
        """True while a call has started and not ended."""
        return any(call.status not in _ENDED for call in self._calls.values())

    def find(self, call_id: Any) -> ToolCall | None:
        """The latest state of a call, if it is known."""
        return self._calls.get(call_id) if isinstance(call_id, str) else None

    def update(self, fields: dict[str, Any]) -> list[ToolProgress]:
        """Take a `tool_call`, a `tool_call_update` or a permission's `toolCall`."""
        call_id = fields.get("toolCallId")
        if not isinstance(call_id, str) or not call_id:
            return []
        old = self._calls.get(call_id)
        new = _merge(old or ToolCall(call_id, status="in_progress"), fields)
        if new == old:
            return []
        self._remember(new)
        if old is None:
            started = replace(new, status="in_progress") if new.status in _ENDED else new
            events = [ToolProgress(started, "started")]
            return [*events, ToolProgress(new, "ended")] if new.status in _ENDED else events
        return [ToolProgress(new, "ended" if new.status in _ENDED else "updated")]

    def end_all(self, status: ToolStatus) -> list[ToolProgress]:
        """End the calls that the agent left open when its turn ended."""
        ended = [
            replace(call, status=status)
            for call in self._calls.values()
            if call.status not in _ENDED
        ]
        for call in ended:
            self._remember(call)
        return [ToolProgress(call, "ended") for call in ended]

    def _remember(self, call: ToolCall) -> None:
        self._calls[call.call_id] = call
        if len(self._calls) > MAX_TRACKED_CALLS:
            del self._calls[next(iter(self._calls))]


def _merge(old: ToolCall, fields: dict[str, Any]) -> ToolCall:
    status = _STATUSES.get(as_text(fields.get("status")), old.status)
    if old.status in _ENDED and status not in _ENDED:
        status = old.status
    content = _objects(fields["content"]) if "content" in fields else old.content
    if not content and status in _ENDED:
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
