"""The model's messages in one turn: streamed pieces first, the whole block as a fallback.

Owns the message that is being streamed. Claude Code sends each block twice: as pieces while the
model writes, and whole when it is done. Invariants: nothing is told twice; what came only whole
(no stream, an answer fetched in one piece after a broken stream) is told all the same; a block
that was begun in a message that broke off is void. The counterpart is `claude_turn.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from groupx_server.agents.claude_answer import Answer, TextPart
from groupx_server.agents.claude_calls import ClaudeCalls
from groupx_server.agents.jsonrpc import parse_json
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_server.domain.native import NativeEvent, ReasoningDelta

MAX_BLOCKS: Final = 1_000
"""Of one message; more than a model writes."""
MAX_INPUT_CHARS: Final = 16 * 1024 * 1024
"""Of a streamed tool input; the whole one comes with its block."""
_TOOL_BLOCKS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_DELTA_KINDS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "tool_use",
}


@dataclass(slots=True)
class _Block:
    kind: str
    part: TextPart | None = None
    call_id: str = ""
    name: str = ""
    has_thought: bool = False
    input_json: list[str] = field(default_factory=list)
    input_chars: int = 0
    is_whole: bool = False


class Messages:
    """All messages of a turn's main thread; sub-agents' messages do not come here."""

    def __init__(self, calls: ClaudeCalls) -> None:
        self.answer = Answer()
        self._calls = calls
        self._message_id = ""
        self._blocks: dict[int, _Block] = {}
        self._others = 0  # blocks that are no text: each begins a new paragraph

    def stream(self, event: dict[str, Any]) -> list[NativeEvent]:
        """Take the `event` of a `stream_event`."""
        match event.get("type"):
            case "message_start":
                self.discard()
                self._begin(as_text(as_dict(event.get("message")).get("id")))
            case "content_block_start":
                return self._start(event.get("index"), as_dict(event.get("content_block")))
            case "content_block_delta":
                return self._delta(event.get("index"), as_dict(event.get("delta")))
            case "content_block_stop":
                return self._stop(event.get("index"))
        return []

    def whole(self, message: dict[str, Any]) -> list[NativeEvent]:
        """Take the `message` of an `assistant` line: one or more whole blocks."""
        message_id = as_text(message.get("id"))
        if message_id != self._message_id:
            self.discard()
            self._begin(message_id)
        events: list[NativeEvent] = []
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for item in as_list(blocks)[:MAX_BLOCKS]:
            events.extend(self._whole_block(as_dict(item)))
        return events

    def discard(self) -> None:
        """The message that is being streamed broke off: what it began does not count."""
        for block in self._blocks.values():
            if block.part is not None and not block.is_whole:
                self.answer.void(block.part)
        self._blocks.clear()

    def keep(self) -> None:
        """Nothing more comes of the message that is being streamed; what came of it counts."""
        self._blocks.clear()

    # --- streamed ---------------------------------------------------------------------------

    def _begin(self, message_id: str) -> None:
        self._message_id = message_id
        self._blocks = {}
        self._others = 0

    def _start(self, index: Any, block: dict[str, Any]) -> list[NativeEvent]:
        if not isinstance(index, int) or len(self._blocks) >= MAX_BLOCKS:
            return []
        kind = as_text(block.get("type"))
        known = self._blocks[index] = self._new_block(kind)
        if kind in _TOOL_BLOCKS:
            known.call_id, known.name = as_text(block.get("id")), as_text(block.get("name"))
            return self._calls.announce(known.call_id, known.name)
        first = as_text(block.get("text")) or as_text(block.get("thinking"))
        return self._add(known, first) if first else []

    def _new_block(self, kind: str) -> _Block:
        if kind == "text":
            return _Block(kind, self.answer.open(f"{self._message_id}/{self._others}"))
        self._others += 1
        return _Block("tool_use" if kind in _TOOL_BLOCKS else kind)

    def _delta(self, index: Any, delta: dict[str, Any]) -> list[NativeEvent]:
        kind = _DELTA_KINDS.get(as_text(delta.get("type")))
        if kind is None or not isinstance(index, int):
            return []
        block = self._blocks.get(index)
        if block is None:  # its start was lost
            if len(self._blocks) >= MAX_BLOCKS:
                return []
            block = self._blocks[index] = self._new_block(kind)
        if block.kind != kind:
            return []
        text = delta.get("text") or delta.get("thinking") or delta.get("partial_json")
        return self._add(block, as_text(text))

    def _add(self, block: _Block, text: str) -> list[NativeEvent]:
        if block.part is not None:
            return list(self.answer.add(block.part, text))
        if block.kind == "thinking" and text:
            block.has_thought = True
            return [ReasoningDelta(text)]
        if block.kind == "tool_use" and block.input_chars + len(text) <= MAX_INPUT_CHARS:
            block.input_json.append(text)
            block.input_chars += len(text)
        return []

    def _stop(self, index: Any) -> list[NativeEvent]:
        """A block ended. Its whole form came before, as a rule; a call does not wait for it."""
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or block.is_whole or block.kind != "tool_use":
            return []
        try:
            given = parse_json("".join(block.input_json).encode("utf-8", "replace"))
        except ValueError:
            return []
        return self._calls.call(block.call_id, block.name, given)

    # --- whole ------------------------------------------------------------------------------

    def _whole_block(self, item: dict[str, Any]) -> list[NativeEvent]:
        kind = as_text(item.get("type"))
        match kind:
            case "text":
                return self._whole_text(as_text(item.get("text")))
            case "thinking":
                return self._whole_thought(as_text(item.get("thinking")))
            case _ if kind in _TOOL_BLOCKS:
                self._claim("tool_use")
                name = as_text(item.get("name"))
                return self._calls.call(as_text(item.get("id")), name, item.get("input"))
            case _:
                return []

    def _whole_text(self, text: str) -> list[NativeEvent]:
        block = self._claim("text")
        if block is None or block.part is None:
            part = self.answer.open(f"{self._message_id}/{self._others}")
            return list(self.answer.add(part, text))
        return list(self.answer.settle(block.part, text))

    def _whole_thought(self, text: str) -> list[NativeEvent]:
        block = self._claim("thinking")
        is_told = block is not None and block.has_thought
        return [ReasoningDelta(text)] if text and not is_told else []

    def _claim(self, kind: str) -> _Block | None:
        """The first streamed block of this kind whose whole form has not come yet."""
        for block in self._blocks.values():
            if block.kind == kind and not block.is_whole:
                block.is_whole = True
                return block
        if kind != "text":
            self._others += 1
        return None
