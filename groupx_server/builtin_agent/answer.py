"""Takes the deltas of one model reply: sends them on and keeps what the turn needs later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.builtin_agent.chunks import (
    ContentPart,
    Delta,
    Finished,
    ReasoningPart,
    ToolFragment,
    UsageSeen,
)
from groupx_server.builtin_agent.thinking import ThinkSplitter
from groupx_server.builtin_agent.tool_calls import PendingCall, ToolCallAssembler
from groupx_server.builtin_agent.updates import TurnSink
from groupx_shared.text import safe_line

MAX_ANSWER_CHARS: Final = 4_000_000
MAX_REASONING_CHARS: Final = 4_000_000


class AnswerFullError(Exception):
    """The model wrote more than we take; what was taken has been sent."""


@dataclass(slots=True)
class Allowance:
    """Characters a turn may still send, over all its replies."""

    content: int = MAX_ANSWER_CHARS
    reasoning: int = MAX_REASONING_CHARS


class Answer:
    """One reply as it grows. `streamed` is true once the client has seen any of it."""

    def __init__(self, sink: TurnSink, allowance: Allowance) -> None:
        self._sink = sink
        self._allowance = allowance
        self._splitter = ThinkSplitter()
        self._tools = ToolCallAssembler()
        self._content: list[str] = []
        self.finish_reason = ""
        self.usage: dict[str, Any] = {}
        self.streamed = False
        self.reasoned = False

    @property
    def text(self) -> str:
        """The answer's text so far, without reasoning."""
        return "".join(self._content)

    @property
    def calls(self) -> list[PendingCall]:
        """Tool calls in the order they began; those without a name are left out."""
        return [call for call in self._tools.calls if call.name]

    async def take(self, deltas: Sequence[Delta]) -> None:
        """Take deltas in order. Raises: AnswerFullError."""
        for delta in deltas:
            await self._take(delta)

    async def finish(self) -> None:
        """Send what was held back; call once after the last delta."""
        for kind, text in self._splitter.finish():
            await self._part(kind, text)

    async def _take(self, delta: Delta) -> None:
        if isinstance(delta, ContentPart):
            for kind, text in self._splitter.feed(delta.text):
                await self._part(kind, text)
        elif isinstance(delta, ReasoningPart):
            await self._part("reasoning", delta.text)
        elif isinstance(delta, ToolFragment):
            await self._fragment(delta)
        elif isinstance(delta, UsageSeen):
            self.usage = delta.counts
        elif isinstance(delta, Finished):
            self.finish_reason = delta.reason or self.finish_reason

    async def _part(self, kind: str, text: str) -> None:
        self.streamed = True
        if kind == "reasoning":
            self.reasoned = True
            taken = text[: self._allowance.reasoning]
            self._allowance.reasoning -= len(taken)
            await self._sink.thought(taken)
        else:
            taken = text[: self._allowance.content]
            self._allowance.content -= len(taken)
            self._content.append(taken)
            await self._sink.message(taken)
        if len(taken) < len(text):
            raise AnswerFullError

    async def _fragment(self, fragment: ToolFragment) -> None:
        self.streamed = True
        self._tools.add(fragment)
        for call in self._tools.calls:
            if call.name and not call.record_id:
                title = safe_line(call.name, 80)
                call.record_id = await self._sink.tool_started(title, "other", status="pending")

    async def fail_open_calls(self) -> None:
        """Close the records of calls that will not be run."""
        for call in self.calls:
            await self._sink.tool_ended(call.record_id, "Not run: the answer ended.", failed=True)
