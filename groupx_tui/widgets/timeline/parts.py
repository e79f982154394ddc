"""Parts: the units of a block that are laid out apart, when they come into view.

A part knows its rows at one width and palette only; its height at that width outlives the rows,
which may be dropped to save memory. Counterpart: `blockstate.py`, which makes a block's parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import accumulate
from typing import Final

from groupx_tui.render.palette import Palette
from groupx_tui.render.row import Layout

Draw = Callable[[int, Palette], Layout]
"""Lays content out: width in cells and palette in, rows out."""


class Part:
    """A piece of a block with a key that lasts and content that does not change."""

    __slots__ = (
        "_draw",
        "_height",
        "_index",
        "_layout",
        "_palette",
        "_stack",
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
        self._stack: Stack | None = None
        self._index = 0

    def layout(self, width: int, palette: Palette) -> Layout:
        """Return the rows; laid out once for each width and palette."""
        if self._layout is None or width != self._width or palette is not self._palette:
            guess = self.height(width)
            self._layout = self._draw(width, palette)
            self._width, self._palette = width, palette
            self._height = len(self._layout.rows)
            if self._stack is not None and self._height != guess:
                self._stack.correct(self._index, width, self._height - guess)
        return self._layout

    def height(self, width: int) -> int:
        """Return the number of rows: exact once laid out at this width, else a guess."""
        if width == self._width:
            return self._height
        return self.lines + self.chars // max(1, width)

    def forget(self) -> None:
        """Drop the rows; the height stays known."""
        self._layout = None

    def put_on(self, stack: Stack, index: int) -> None:
        """Tell the stack, from now on, when the height turns out to be another."""
        self._stack, self._index = stack, index


BUCKET: Final = 128
"""Parts whose heights are summed together: small enough to look through, large enough to skip."""


class Stack:
    """Parts that only grow in number, with the sums of their heights at one width.

    Invariant: a sum is exact for what its parts say now; it costs a bucket, not all parts.
    """

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._sums: list[int] = []
        self._width = -1

    def append(self, part: Part) -> None:
        """Add a part at the end."""
        index = len(self.parts)
        self.parts.append(part)
        part.put_on(self, index)
        if index % BUCKET == 0:
            self._sums.append(0)
        if self._width >= 0:
            self._sums[-1] += part.height(self._width)

    def correct(self, index: int, width: int, rows: int) -> None:
        """Take note that a part has so many more rows than was thought."""
        if width == self._width:
            self._sums[index // BUCKET] += rows

    def height(self, width: int) -> int:
        """Return the rows of all parts."""
        self._measure(width)
        return sum(self._sums)

    def above(self, index: int, width: int) -> int:
        """Return the rows above a part."""
        self._measure(width)
        bucket = index // BUCKET
        rest = self.parts[bucket * BUCKET : index]
        return sum(self._sums[:bucket]) + sum(part.height(width) for part in rest)

    def find(self, rows: int, width: int) -> tuple[int, int]:
        """Return the part that has about `rows` rows above it, and what is left inside it."""
        self._measure(width)
        bucket = next((n for n, sum_ in enumerate(accumulate(self._sums)) if sum_ > rows), 0)
        rows -= sum(self._sums[:bucket])
        for index in range(bucket * BUCKET, len(self.parts)):
            height = self.parts[index].height(width)
            if rows < height:
                return index, rows
            rows -= height
        return len(self.parts) - 1, rows

    def _measure(self, width: int) -> None:
        if width != self._width:
            self._width = width
            self._sums = [
                sum(part.height(width) for part in self.parts[start : start + BUCKET])
                for start in range(0, len(self.parts), BUCKET)
            ]
