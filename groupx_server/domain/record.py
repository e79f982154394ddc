"""What a turn leaves behind: the bounded, cleaned parts that its terminal writes.

`TurnRecord` collects a turn's native events at the cost of each piece, never of the whole, and
holds no more than its bounds: the answer keeps up to `WHOLE_ANSWER_CHARS` beside the cut one in
the event, reasoning and tools are cut with a visible mark.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ToolCall
from groupx_shared.text import clip_text, safe_line, safe_text

WHOLE_ANSWER_CHARS: Final = 16 * 1024 * 1024
"""The whole of an answer that is longer than an event holds is kept up to here."""
MAX_TOOL_ITEMS: Final = 64
MAX_LOCATIONS: Final = 32
CUT_ITEM: Final[dict[str, Any]] = {"type": "cut"}
"""Last content item of a bounded call: something was left out before."""
ITEM_TEXTS: Final = ("text", "oldText", "newText", "output")


class BoundedText:
    """Text collected piece by piece, kept up to `max_chars`; `total` counts what came."""

    def __init__(self, max_chars: int) -> None:
        self._pieces: list[str] = []
        self._kept = 0
        self._max = max_chars
        self.total = 0

    def append(self, piece: str) -> None:
        self.total += len(piece)
        room = self._max - self._kept
        if room <= 0:
            return
        self._pieces.append(piece[:room])
        self._kept += min(len(piece), room)

    def __str__(self) -> str:
        return "".join(self._pieces)

    @property
    def omitted(self) -> int:
        """Characters that came beyond the bound."""
        return self.total - self._kept

    def clipped(self) -> str:
        """The kept text; what came beyond the bound is said in a last line."""
        text = str(self)
        if not self.omitted:
            return text
        return text + f"\n[… cut: {self.omitted:,} more characters]"


@dataclass(slots=True)
class ToolRecord:
    """One tool call: its latest state and when it started and ended (monotonic seconds)."""

    call: ToolCall
    started_at: str
    started_s: float
    ended_s: float | None = None


@dataclass(slots=True)
class TurnRecord:
    """All that a turn produced so far."""

    limits: Limits
    answer: BoundedText = field(init=False)
    reasoning: BoundedText = field(init=False)
    tools: dict[str, ToolRecord] = field(default_factory=dict)
    tools_dropped: int = 0
    plan: list[dict[str, str]] = field(default_factory=list)
    """As the agent told it last; cleaned."""
    usage: dict[str, int | float | str] = field(default_factory=dict)
    reasoning_started_s: float | None = None
    reasoning_ended_s: float | None = None

    def __post_init__(self) -> None:
        self.answer = BoundedText(WHOLE_ANSWER_CHARS)
        self.reasoning = BoundedText(self.limits.reasoning_characters)


def tool_details(call: ToolCall, limits: Limits, duration_ms: int | None) -> dict[str, Any]:
    """Project a tool call to what is stored and published: cleaned and within the bounds.

    Shape: wire `ToolDetails` (title, kind, status, input, content, locations, cut, durationMs).
    """
    budget = limits.tool_characters
    was_cut = bool(call.content) and call.content[-1] == CUT_ITEM
    whole = call.content[:-1] if was_cut else call.content
    items = tuple(_flat(item) for item in whole[:MAX_TOOL_ITEMS])
    content, cut = _bounded_items(items, budget)
    details: dict[str, Any] = {
        "title": safe_line(call.title, 200),
        "kind": safe_line(call.kind, 40),
        "status": call.status,
        "content": content,
        "locations": [_location(item) for item in call.locations[:MAX_LOCATIONS]],
        "cut": cut or was_cut or len(whole) > MAX_TOOL_ITEMS,
    }
    if call.raw_input is not None:
        details["input"] = bounded_json(call.raw_input, budget // 4)
    if duration_ms is not None:
        details["durationMs"] = duration_ms
    return details


def bounded_call(call: ToolCall, limits: Limits) -> ToolCall:
    """Return the call holding no more than what is stored of it, so that a turn with many large
    tool results does not keep them all."""
    details = tool_details(call, limits, None)
    content = (*details["content"], CUT_ITEM) if details["cut"] else details["content"]
    return replace(call, raw_input=details.get("input"), content=tuple(content))


def bounded_json(value: Any, max_chars: int) -> Any:
    """Return `value` with cleaned strings when its JSON fits, else its cleaned, cut JSON text."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= max_chars:
        return _clean(value)
    return clip_text(safe_text(text), max_chars)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, dict):
        return {safe_line(str(key), 200): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value if isinstance(value, int | float | bool) or value is None else str(value)


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    """ACP wraps a text item as `{type: content, content: {type: text, text}}`; unwrap it."""
    inner = item.get("content")
    return inner if item.get("type") == "content" and isinstance(inner, dict) else item


def _bounded_items(
    items: tuple[dict[str, Any], ...], budget: int
) -> tuple[list[dict[str, Any]], bool]:
    """Clean content items one after the other until the character budget is used up."""
    kept: list[dict[str, Any]] = []
    cut = False
    for item in items:
        if budget <= 0:
            return kept, True
        bounded: dict[str, Any] = {}
        for key, value in item.items():
            if key in ITEM_TEXTS and isinstance(value, str):
                cut = cut or len(value) > budget
                text = safe_text(clip_text(value, max(budget, 64)))
                budget -= len(text)
                bounded[key] = text
            else:
                bounded[safe_line(str(key), 40)] = bounded_json(value, 1024)
        kept.append(bounded)
    return kept, cut


def _location(item: dict[str, Any]) -> dict[str, Any]:
    location: dict[str, Any] = {"path": safe_line(str(item.get("path", "")), 1024)}
    if isinstance(line := item.get("line"), int):
        location["line"] = line
    return location
