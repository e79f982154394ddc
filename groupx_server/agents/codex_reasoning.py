"""The reasoning of one Codex turn as one text: summaries and raw thoughts, part by part.

Owns what was given so far. Invariants: parts (of another item, another index, or raw after
summary) are separated by an empty line; an item that was not streamed is given at its end, one
that was is not given twice. The counterpart is `codex_turn.py`.
"""

from __future__ import annotations

from typing import Any

from groupx_server.agents.loose import as_list, as_text
from groupx_server.domain.native import ReasoningDelta


class CodexReasoning:
    """All reasoning items of one turn."""

    def __init__(self) -> None:
        self._part: tuple[str, str, Any] | None = None
        self._streamed: set[str] = set()

    def grow(self, params: dict[str, Any], kind: str, index_key: str) -> list[ReasoningDelta]:
        """A piece came: of the `summary` or of the `content` of an item."""
        item_id, delta = as_text(params.get("itemId")), as_text(params.get("delta"))
        if not delta:
            return []
        self._streamed.add(item_id)
        return self._give((item_id, kind, params.get(index_key)), delta)

    def complete(self, item_id: str, item: dict[str, Any]) -> list[ReasoningDelta]:
        """An item ended; its text is given when none of it was streamed."""
        if item_id in self._streamed:
            return []
        self._streamed.add(item_id)
        parts = [("summary", part) for part in as_list(item.get("summary"))]
        parts += [("content", part) for part in as_list(item.get("content"))]
        events = []
        for index, (kind, part) in enumerate(parts):
            if text := as_text(part):
                events += self._give((item_id, kind, index), text)
        return events

    def _give(self, part: tuple[str, str, Any], text: str) -> list[ReasoningDelta]:
        is_next = self._part is not None and part != self._part
        self._part = part
        return [ReasoningDelta(f"\n\n{text}" if is_next else text)]
