"""Parts: the units of a block that are laid out apart, when they come into view.

A part knows its rows at one width and palette only; its height at that width outlives the rows,
which may be dropped to save memory. Counterpart: `blockstate.py`, which makes a block's parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from groupx_tui.render.palette import Palette
from groupx_tui.render.row import Layout

Draw = Callable[[int, Palette], Layout]
"""Lays content out: width in cells and palette in, rows out."""


class Part:
    """A piece of a block with a key that lasts and content that does not change."""

    __slots__ = (
        "_draw",
        "_height",
        "_layout",
        "_palette",
        "_width",
        "chars",
        "has_stops",
        "inputs",
        "is_content",
        "key",
        "lines",
    )

    def __init__(
        self,
        key: str,
        inputs: Hashable,
        draw: Draw,
        *,
        chars: int = 0,
        lines: int = 1,
        is_content: bool = True,
        has_stops: bool = False,
    ) -> None:
        """`inputs` is all that `draw` depends on: parts with equal key and inputs are the same.
        `chars` and `lines` (line breaks) let the height be guessed before it is known."""
        self.key = key
        self.inputs = inputs
        self.chars = chars
        self.lines = lines
        self.is_content = is_content
        self.has_stops = has_stops
        self._draw = draw
        self._layout: Layout | None = None
        self._palette: Palette | None = None
        self._width = -1
        self._height = -1

    def layout(self, width: int, palette: Palette) -> Layout:
        """Return the rows; laid out once for each width and palette."""
        if self._layout is None or width != self._width or palette is not self._palette:
            self._layout = self._draw(width, palette)
            self._width, self._palette = width, palette
            self._height = len(self._layout.rows)
        return self._layout

    def height(self, width: int) -> int:
        """Return the number of rows: exact once laid out at this width, else a guess."""
        if width == self._width:
            return self._height
        return self.lines + self.chars // max(1, width)

    def forget(self) -> None:
        """Drop the rows; the height stays known."""
        self._layout = None
