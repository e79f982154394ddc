"""Streamed parts of an open turn: answer, reasoning, tool progress, notices.

The invariant: a delta costs its own length, whatever stands before it. Each delta says how many
characters came before it, so one that came twice is left out and one that was lost leaves a
visible mark; the recorded text replaces all of it when the turn ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groupx_shared.text import safe_text
from groupx_shared.wire.bodies import (
    ContentDeltaBody,
    ProgressBody,
    ReasoningDeltaBody,
    ToolProgressBody,
    TurnCancellingBody,
)
from groupx_tui.state.clean import clean_object, clean_plan
from groupx_tui.state.model import TurnBlock
from groupx_tui.state.streamtext import StreamText
from groupx_tui.state.tools import tool_view, with_tool
from groupx_tui.state.turns import with_phase

GAP_MARK: Final = "\n[… a part did not arrive; it is shown when the turn ends …]\n"

LiveBody = (
    ContentDeltaBody | ReasoningDeltaBody | ToolProgressBody | ProgressBody | TurnCancellingBody
)
"""Bodies of the transient events of a turn."""


def with_live(block: TurnBlock, body: LiveBody, at: str | None = None) -> TurnBlock:
    """Return the open block with one transient event of its turn, of time `at`, taken in."""
    match body:
        case ContentDeltaBody():
            text, offset = _grown(block.text, block.text_offset, body.text, body.offset)
            return replace(_working(block), text=text, text_offset=offset)
        case ReasoningDeltaBody():
            text, offset = _grown(block.reasoning, block.reasoning_offset, body.text, body.offset)
            return replace(_working(block), reasoning=text, reasoning_offset=offset)
        case ToolProgressBody():
            return replace(_working(block), tools=with_tool(block.tools, tool_view(body)))
        case TurnCancellingBody():
            return replace(with_phase(block, "cancelling"), cancelling_at=block.cancelling_at or at)
        case ProgressBody():
            return _progressed(block, body, at)


def _working(block: TurnBlock) -> TurnBlock:
    """The agent gave a sign of life: it is not silent any more."""
    return block if block.silent_s is None else replace(block, silent_s=None)


def _grown(old: StreamText, known: int, piece: str, offset: int) -> tuple[StreamText, int]:
    """Return the text with `piece`, which starts at character `offset`, and what is known now."""
    end = offset + len(piece)
    if end <= known:
        return old, known
    if offset > known:
        old = old.append(GAP_MARK)
    return old.append(safe_text(piece[max(0, known - offset) :])), end


def _progressed(block: TurnBlock, body: ProgressBody, at: str | None) -> TurnBlock:
    if body.kind == "waiting":
        return replace(block, silent_s=body.silent_s, silent_at=at)
    if body.kind == "plan":
        return replace(block, plan=clean_plan(body.entries))
    return replace(block, usage=None if body.usage is None else clean_object(body.usage))
