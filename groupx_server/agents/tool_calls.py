"""The tool calls of one turn, each as its latest whole state.

Owns the known calls. Invariants: a call starts once (one that is first heard of at its end starts
and ends); `updated` never follows `ended`: a change after the end is given as `ended` again; what
did not change is not told. The counterparts are the readers of each protocol (`acp_tools.py`,
`codex_items.py`), which make the states.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from groupx_server.domain.native import ToolCall, ToolProgress, ToolStatus

MAX_TRACKED_CALLS: Final = 2_000
"""A turn with more calls forgets the oldest; only a runaway agent gets there."""
ENDED: Final = frozenset({"completed", "failed", "cancelled"})


class ToolCalls:
    """All tool calls of one turn."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}

    @property
    def has_open(self) -> bool:
        """True while a call has started and not ended."""
        return any(call.status not in ENDED for call in self._calls.values())

    @property
    def open_ids(self) -> list[str]:
        """The calls that have started and not ended, in order."""
        return [call_id for call_id, call in self._calls.items() if call.status not in ENDED]

    def find(self, call_id: Any) -> ToolCall | None:
        """The latest state of a call, if it is known."""
        return self._calls.get(call_id) if isinstance(call_id, str) else None

    def put(self, new: ToolCall) -> list[ToolProgress]:
        """Take the state of a call."""
        old = self._calls.get(new.call_id)
        if new == old:
            return []
        self._remember(new)
        if old is None:
            started = replace(new, status="in_progress") if new.status in ENDED else new
            events = [ToolProgress(started, "started")]
            return [*events, ToolProgress(new, "ended")] if new.status in ENDED else events
        return [ToolProgress(new, "ended" if new.status in ENDED else "updated")]

    def end_all(self, status: ToolStatus) -> list[ToolProgress]:
        """End the calls that the agent left open when its turn ended."""
        ended = [
            replace(call, status=status)
            for call in self._calls.values()
            if call.status not in ENDED
        ]
        for call in ended:
            self._remember(call)
        return [ToolProgress(call, "ended") for call in ended]

    def _remember(self, call: ToolCall) -> None:
        self._calls[call.call_id] = call
        if len(self._calls) > MAX_TRACKED_CALLS:
            del self._calls[next(iter(self._calls))]
