"""The tool calls of one Claude Code turn, from its first mention to its result.

Owns what each call was given, until its result comes. Invariants: a call is shown from the moment
the model begins to write it; calls of the to-do list are shown as a plan, not as calls; a call
that ended because of our cancel is `cancelled`, without the words that are meant for the model.
The counterparts are `claude_turn.py`, which feeds it, and `tool_calls.py`, which keeps the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from groupx_server.agents.claude_plan import PLAN_TOOLS, PlanBook
from groupx_server.agents.claude_tools import (
    planned_content,
    result_content,
    tool_kind,
    tool_places,
    tool_title,
)
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.agents.tool_calls import MAX_TRACKED_CALLS, ToolCalls
from groupx_server.domain.native import (
    NativeEvent,
    PlanUpdated,
    ToolCall,
    ToolStatus,
)

_REJECTED: Final = "user-rejected"


@dataclass(slots=True)
class _Given:
    name: str
    input: dict[str, Any]


class ClaudeCalls:
    """All tool calls of one turn; sub-agents' calls among them."""

    def __init__(self, plan: PlanBook) -> None:
        self._plan = plan
        self._given: dict[str, _Given] = {}
        self._states = ToolCalls()

    @property
    def has_open(self) -> bool:
        """True while a call has started and not ended."""
        return self._states.has_open

    def title(self, call_id: str) -> str:
        """The title of a known call, or an empty text."""
        known = self._states.find(call_id)
        return known.title if known is not None else ""

    def announce(self, call_id: str, name: str) -> list[NativeEvent]:
        """The model begins to write a call."""
        if not call_id or call_id in self._given:
            return []
        self._remember(call_id, _Given(name, {}))
        if name in PLAN_TOOLS:
            return []
        title, kind = tool_title(name, {}), tool_kind(name)
        return list(self._states.put(ToolCall(call_id, title, kind, "pending")))

    def call(self, call_id: str, name: str, given: Any) -> list[NativeEvent]:
        """The model made a call; it runs now."""
        if not call_id:
            return []
        self._remember(call_id, _Given(name, as_dict(given)))
        if name in PLAN_TOOLS:
            return []
        known = self._states.find(call_id)
        status = known.status if known and known.status != "pending" else "in_progress"
        return list(self._states.put(self._state(call_id, status, given)))

    def results(
        self, blocks: Sequence[Any], message: dict[str, Any], *, cancelled: bool
    ) -> list[NativeEvent]:
        """Take the `tool_result` blocks of a `user` message."""
        events: list[NativeEvent] = []
        results = [as_dict(block) for block in blocks]
        results = [block for block in results if block.get("type") == "tool_result"]
        structured = message.get("tool_use_result") if len(results) == 1 else None
        rejected = _rejected(message)
        for block in results:
            call_id = as_text(block.get("tool_use_id"))
            is_cancelled = cancelled and (call_id in rejected or block.get("is_error") is True)
            is_cancelled = is_cancelled or as_dict(structured).get("interrupted") is True
            events.extend(self._result(call_id, block, structured, cancelled=is_cancelled))
        return events

    def end_all(self, status: ToolStatus) -> list[NativeEvent]:
        """End the calls that were left open when the turn ended."""
        return list(self._states.end_all(status))

    def _result(
        self, call_id: str, block: dict[str, Any], structured: Any, *, cancelled: bool
    ) -> list[NativeEvent]:
        if not call_id:
            return []
        given = self._given.pop(call_id, None) or _Given("tool", {})
        is_error = block.get("is_error") is True
        if given.name in PLAN_TOOLS:
            entries = None if is_error else self._plan.apply(given.name, given.input, structured)
            return [] if entries is None else [PlanUpdated(entries)]
        known = self._states.find(call_id) or ToolCall(call_id, tool_title(given.name, given.input))
        if cancelled:
            return list(self._states.put(replace(known, status="cancelled")))
        ended = replace(
            known,
            status="failed" if is_error else "completed",
            content=result_content(given.name, known.content, block, structured),
            locations=tool_places(given.input, as_dict(structured)),
        )
        return list(self._states.put(ended))

    def _state(self, call_id: str, status: ToolStatus, raw_input: Any) -> ToolCall:
        given = self._given[call_id]
        return ToolCall(
            call_id=call_id,
            title=tool_title(given.name, given.input),
            kind=tool_kind(given.name),
            status=status,
            raw_input=raw_input,
            content=planned_content(given.name, given.input),
            locations=tool_places(given.input, {}),
        )

    def _remember(self, call_id: str, given: _Given) -> None:
        self._given[call_id] = given
        if len(self._given) > MAX_TRACKED_CALLS:
            del self._given[next(iter(self._given))]


def _rejected(message: dict[str, Any]) -> set[str]:
    """Ids of the calls that ended because somebody stopped them."""
    metas = [as_dict(meta) for meta in as_list(message.get("tool_result_meta"))]
    return {as_text(m.get("id")) for m in metas if m.get("non_execution_kind") == _REJECTED}
