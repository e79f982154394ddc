"""Guesses the height of a block that nobody has looked at yet.

Cheap (no layout, no joining of texts) and only for the scrollbar: what is drawn is exact.
"""

from __future__ import annotations

from typing import Final

from groupx_tui.state.model import MessageBlock, Shown, ThreadBlock, TurnBlock

_FILL: Final = 0.8
"""Share of a line that prose fills on average, line breaks and lists counted in."""


def estimate(block: Shown, width: int) -> int:
    """Return about how many rows the block takes, folded, at a width in cells."""
    cells = max(8, int(width * _FILL))
    if isinstance(block, MessageBlock):
        return 2 + 1 + len(block.text) // cells
    if isinstance(block, TurnBlock):
        folds = bool(len(block.reasoning)) + bool(block.plan) + len(block.tools)
        text = len(block.text)
        return 2 + folds + (text // cells + 2 if text else 0)
    if isinstance(block, ThreadBlock):
        return 2
    return 1 + len(block.text) // cells
