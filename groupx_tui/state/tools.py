"""Tool calls of a turn: what is known live and what is recorded become one `ToolView`.

The invariant: the result does not depend on the order of the records, and a durable record
replaces what was known live. One call may have one record or two (a start and an end, as the
earlier program wrote); the end decides, the start fills what the end leaves out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groupx_shared.text import safe_line
from groupx_shared.wire.bodies import ToolProgressBody
from groupx_tui.state.clean import MAX_TITLE_CHARS, clean_id, clean_json, clean_object
from groupx_tui.state.model import ToolView

_NOT_RECORDED: Final = 1 << 62
"""Sorts calls that are known only live after the recorded ones, in the order they came."""


def tool_view(body: ToolProgressBody, recorded_seq: int = 0) -> ToolView:
    """Return the call as one event tells it; `recorded_seq` is 0 for a live event."""
    details = body.details
    return ToolView(
        call_id=clean_id(body.tool_call_id),
        title=safe_line(details.title, MAX_TITLE_CHARS),
        kind=safe_line(details.kind),
        status=safe_line(details.status),
        has_ended=body.native_type == "tool.completed",
        input=clean_json(details.input),
        content=tuple(clean_object(item) for item in details.content),
        locations=tuple(clean_object(item) for item in details.locations),
        duration_ms=details.duration_ms,
        is_cut=details.cut,
        recorded_seq=recorded_seq,
        decided_seq=recorded_seq,
    )


def with_tool(tools: tuple[ToolView, ...], new: ToolView) -> tuple[ToolView, ...]:
    """Return the turn's calls with `new` merged in; the same tuple when nothing changed."""
    for index, old in enumerate(tools):
        if old.call_id == new.call_id:
            merged = _merge(old, new)
            if merged == old:
                return tools
            changed = (*tools[:index], merged, *tools[index + 1 :])
            return _in_order(changed) if merged.recorded_seq != old.recorded_seq else changed
    return _in_order((*tools, new))


def recorded_only(tools: tuple[ToolView, ...]) -> tuple[ToolView, ...]:
    """Return the calls that the ledger knows; the same tuple when that is all of them."""
    if all(tool.recorded_seq for tool in tools):
        return tools
    return tuple(tool for tool in tools if tool.recorded_seq)


def _in_order(tools: tuple[ToolView, ...]) -> tuple[ToolView, ...]:
    return tuple(sorted(tools, key=lambda tool: tool.recorded_seq or _NOT_RECORDED))


def _merge(old: ToolView, new: ToolView) -> ToolView:
    if bool(old.recorded_seq) != bool(new.recorded_seq):
        return new if new.recorded_seq else old
    start, end = (old, new) if _rank(new) >= _rank(old) else (new, old)
    return replace(
        end,
        title=end.title or start.title,
        kind=end.kind if end.kind != "other" else start.kind,
        input=start.input if end.input is None else end.input,
        content=end.content or start.content,
        locations=end.locations or start.locations,
        duration_ms=start.duration_ms if end.duration_ms is None else end.duration_ms,
        recorded_seq=min(start.recorded_seq, end.recorded_seq),
    )


def _rank(tool: ToolView) -> tuple[bool, int]:
    return tool.has_ended, tool.decided_seq
