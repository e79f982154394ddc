"""Live output of one running turn, coalesced: the first piece at once, then in short windows.

Cost of a delta: its own length. A tool that updates itself often is sent at most once a window,
with its latest state only. Counterpart: the client's reducer, which joins deltas by `offset`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ToolCall
from groupx_server.domain.record import tool_details
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.live import Outlet, Speaker, live_event
from groupx_server.rooms.turnstates import turn_state_key
from groupx_shared.wire.events import EventType

WINDOW_S: Final = 0.01
"""Deltas that arrive within it leave together: a third of a frame of a 30 Hz client, which they
wait for as well."""
CROWD: Final = 8
CROWDED_WINDOW_S: Final = 0.02
"""After a window with more pieces than that: who writes that fast is not read word by word."""
MAX_LIVE_CHARS: Final = 1024 * 1024
"""A piece that is longer does not fit where live events wait for their readers; it comes with the
end of the turn, and is not encoded for nobody."""

_KINDS: Final = {
    "content": EventType.TURN_CONTENT_DELTA,
    "reasoning": EventType.TURN_REASONING_DELTA,
}


class LiveOutput:
    """Publishes one turn's deltas, tool progress and notices."""

    def __init__(
        self, turn_id: str, speaker: Speaker, outlet: Outlet, limits: Limits, clock: Clock
    ) -> None:
        self._turn_id = turn_id
        self._speaker = speaker
        self._outlet = outlet
        self._limits = limits
        self._clock = clock
        self._pending: dict[str, list[str]] = {}
        self._sent = {"content": 0, "reasoning": 0}
        self._chunk_index = 0
        self._tools: dict[str, ToolCall] = {}
        self._last_flush = float("-inf")
        self._pieces = 0
        self._window_s = WINDOW_S
        self._timer: asyncio.TimerHandle | None = None

    def text(self, kind: str, piece: str) -> None:
        """Add a piece of `content` or `reasoning`."""
        if kind not in self._pending:
            self._flush_other(kind)
            self._pending[kind] = []
        self._pending[kind].append(piece)
        self._pieces += 1
        self._schedule()

    def tool(self, call: ToolCall) -> None:
        """Add a tool call's latest state."""
        self._tools[call.call_id] = call
        self._schedule()

    def notice(self, body: dict[str, Any]) -> None:
        """Send a `turn.progress` at once, after what came before it."""
        self.flush()
        key = turn_state_key(self._turn_id, "plan") if body["kind"] == "plan" else None
        self._send(EventType.TURN_PROGRESS, {"turnId": self._turn_id, **body}, key)

    def end(self) -> None:
        """Send what is pending: nothing follows."""
        self.flush()
        self._outlet.turn_ended(self._turn_id)

    def flush(self) -> None:
        """Send what is pending and forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for kind in list(self._pending):
            self._flush_text(kind)
        for call in self._tools.values():
            ended = call.status in ("completed", "failed", "cancelled")
            self._send(
                EventType.TOOL_PROGRESS,
                {
                    "turnId": self._turn_id,
                    "toolCallId": call.call_id,
                    "nativeType": "tool.completed" if ended else "tool.started",
                    "details": tool_details(call, self._limits, None),
                },
                merge_key=turn_state_key(self._turn_id, f"tool:{call.call_id}"),
            )
        self._tools.clear()
        self._window_s = CROWDED_WINDOW_S if self._pieces > CROWD else WINDOW_S
        self._pieces = 0
        self._last_flush = self._clock.monotonic()

    def _flush_other(self, kind: str) -> None:
        """Keep the order in which kinds arrived."""
        for other in list(self._pending):
            if other != kind:
                self._flush_text(other)

    def _flush_text(self, kind: str) -> None:
        text = "".join(self._pending.pop(kind))
        body: dict[str, Any] = {"turnId": self._turn_id, "offset": self._sent[kind], "text": text}
        if kind == "content":
            self._chunk_index += 1
            body["chunkIndex"] = self._chunk_index
        self._sent[kind] += len(text)
        if len(text) <= MAX_LIVE_CHARS:
            self._send(_KINDS[kind], body)

    def _schedule(self) -> None:
        if self._timer is not None:
            return
        due = self._last_flush + self._window_s - self._clock.monotonic()
        if due <= 0:
            self.flush()
        else:
            self._timer = asyncio.get_running_loop().call_later(due, self.flush)

    def _send(self, kind: str, body: dict[str, Any], merge_key: str | None = None) -> None:
        data = live_event(self._speaker, kind, body, self._clock.now())
        self._outlet.publish_transient(data, self._speaker.room_id, merge_key)
