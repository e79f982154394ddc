"""Collecting one turn: native events in, cleaned and bounded record out.

Everything an agent sends is cleaned here, once, before it is published or stored. Each event costs
its own length.
"""

from __future__ import annotations

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import (
    ContentDelta,
    NativeEvent,
    PlanUpdated,
    ReasoningDelta,
    ToolCall,
    ToolProgress,
    UsageReported,
    Waiting,
)
from groupx_server.domain.record import ToolRecord, TurnRecord, bounded_call, tool_details
from groupx_server.domain.steps import StepKind, StepLog
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.terminal import ToolEnd, TurnEnd
from groupx_server.rooms.clock import Clock
from groupx_server.rooms.deltas import LiveOutput
from groupx_shared.text import safe_line, safe_text

PARAGRAPH = "\n\n"
MAX_KIND_CHARS = 64
MAX_PLAN_ENTRIES = 100
MAX_PLAN_CHARS = 500
"""Of each entry: a plan is a list of steps, not their texts."""
ENDED = ("completed", "failed", "cancelled")


class PieceCleaner:
    """Cleans a text that comes in pieces: a CRLF split between two pieces stays one newline."""

    def __init__(self) -> None:
        self._held = ""

    def clean(self, piece: str) -> str:
        piece = self._held + piece
        self._held = ""
        if piece.endswith("\r"):
            piece, self._held = piece[:-1], "\r"
        return safe_text(piece)


class TurnCollector:
    """Takes a turn's non-terminal events; `unsaved` is the part of the answer not on disk yet."""

    def __init__(
        self, output: LiveOutput, limits: Limits, clock: Clock, steps: StepLog | None = None
    ) -> None:
        """`steps` is there when somebody watches the turn."""
        self.record = TurnRecord(limits)
        self.steps = steps
        self.unsaved: list[str] = []
        self.is_waiting = False
        self._output = output
        self._limits = limits
        self._clock = clock
        self._started_s = clock.monotonic()
        self._content = PieceCleaner()
        self._reasoning = PieceCleaner()
        self._message_id: str | None = None
        self._paragraph_due = False

    def take(self, event: NativeEvent) -> None:
        """Record and publish one event."""
        self.is_waiting = isinstance(event, Waiting)
        match event:
            case ContentDelta():
                self._take_content(event)
            case ReasoningDelta():
                self._take_reasoning(event)
            case ToolProgress():
                self._take_tool(event)
            case PlanUpdated():
                self.record.plan = [
                    {key: safe_line(str(value), MAX_PLAN_CHARS) for key, value in entry.items()}
                    for entry in event.entries[:MAX_PLAN_ENTRIES]
                ]
                self._output.notice({"kind": "plan", "entries": self.record.plan})
            case UsageReported():
                self.record.usage.update(event.usage)
                self._output.notice({"kind": "usage", "usage": dict(event.usage)})
            case Waiting():
                told = {"reason": safe_line(event.reason, 300)} if event.reason else {}
                silent_s = round(event.silent_s, 1)
                self._output.notice({"kind": "waiting", "silentS": silent_s, **told})
            case _:
                pass

    def _take_content(self, event: ContentDelta) -> None:
        text = self._content.clean(event.text)
        if not text:
            return
        starts_new = event.message_id is not None and event.message_id != self._message_id
        if self.record.answer.total and (self._paragraph_due or starts_new):
            text = PARAGRAPH + text.lstrip("\n")
        self._message_id = event.message_id
        self._paragraph_due = False
        self._end_reasoning()
        self.record.answer.append(text)
        if self.steps is not None:
            self.steps.content(self._clock.now(), self.record.answer.total)
        self.unsaved.append(text)
        self._output.text("content", text)

    def _take_reasoning(self, event: ReasoningDelta) -> None:
        text = self._reasoning.clean(event.text)
        if not text:
            return
        if self.record.reasoning_started_s is None:
            self.record.reasoning_started_s = self._clock.monotonic()
        self.record.reasoning_ended_s = None
        self.record.reasoning.append(text)
        self._output.text("reasoning", text)

    def _take_tool(self, event: ToolProgress) -> None:
        self._paragraph_due = True
        self._end_reasoning()
        call_id = event.call.call_id
        known = self.record.tools.get(call_id)
        if known is None:
            if len(self.record.tools) >= self._limits.tools_per_turn:
                self.record.tools_dropped += event.phase == "started"
                return
            known = ToolRecord(event.call, self._clock.now(), self._clock.monotonic())
            self.record.tools[call_id] = known
            self._step("tool.started", event.call)
        known.call = event.call
        if event.call.status in ENDED:
            if known.ended_s is None:
                self._step("tool.completed", event.call)
            known.ended_s = known.ended_s or self._clock.monotonic()
            known.call = bounded_call(event.call, self._limits)
        self._output.tool(event.call)

    def _step(self, kind: StepKind, call: ToolCall) -> None:
        """For observers: of what kind, and how it stands; no title, argument or result."""
        if self.steps is not None:
            call_id, tool = safe_line(call.call_id, 256), safe_line(call.kind, MAX_KIND_CHARS)
            self.steps.tool(kind, self._clock.now(), call_id, tool, call.status)

    def _end_reasoning(self) -> None:
        if self.record.reasoning_started_s is not None and self.record.reasoning_ended_s is None:
            self.record.reasoning_ended_s = self._clock.monotonic()

    def finish(
        self,
        turn_id: str,
        status: TurnStatus,
        *,
        content: str | None = None,
        stop_reason: str | None = None,
        error_code: str | None = None,
        error_message: str | None = None,
    ) -> TurnEnd:
        """Return the turn's end with all that was collected. `content` replaces the streamed
        answer when the protocol gives the whole at the end."""
        self._output.end()
        self._end_reasoning()
        record = self.record
        answer = safe_text(content) if content is not None else str(record.answer)
        if content is None and record.answer.omitted:
            answer = record.answer.clipped()
        now_s = self._clock.monotonic()
        extra = {"toolsOmitted": record.tools_dropped} if record.tools_dropped else {}
        return TurnEnd(
            turn_id,
            status,
            answer=answer,
            reasoning=record.reasoning.clipped(),
            reasoning_cut=bool(record.reasoning.omitted),
            reasoning_ms=_milliseconds(record.reasoning_started_s, record.reasoning_ended_s),
            tools=[self._tool_end(tool) for tool in record.tools.values()],
            plan=record.plan,
            error_code=error_code,
            error_message=None if error_message is None else safe_line(error_message, 1024),
            stop_reason=stop_reason,
            usage=dict(record.usage),
            duration_ms=_milliseconds(self._started_s, now_s),
            extra=extra,
            steps=() if self.steps is None else self.steps.unsaved,
        )

    def _tool_end(self, tool: ToolRecord) -> ToolEnd:
        duration = _milliseconds(tool.started_s, tool.ended_s)
        return ToolEnd(
            call_id=safe_line(tool.call.call_id, 256),
            at=tool.started_at,
            details=tool_details(tool.call, self._limits, duration),
            has_ended=tool.ended_s is not None,
        )


def _milliseconds(start_s: float | None, end_s: float | None) -> int | None:
    return None if start_s is None or end_s is None else max(0, round((end_s - start_s) * 1000))
