"""A picture drawn with characters: two pixels in a cell, one above the other.

For terminals that show no pictures but have colours. Counterpart: `picturework`, whose `rgb` this
draws.
"""

from __future__ import annotations

from itertools import zip_longest

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from groupx_tui.picturework import Made

UPPER_HALF = "▀"


class CellPicture(Widget):
    """One picture, as large as its pixels say; nothing until it is given one."""

    DEFAULT_CSS = "CellPicture { width: auto; height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._made = Made(0, 0, b"")

    def show(self, made: Made) -> None:
        """Draw this one."""
        self._made = made
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """A cell for each pixel."""
        return self._made.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A cell for two pixels, the last one's lower half perhaps empty."""
        return (self._made.height + 1) // 2

    def render_line(self, y: int) -> Strip:
        """Two rows of pixels."""
        made = self._made
        if y * 2 >= made.height:
            return Strip.blank(self.size.width)
        return Strip(
            Segment(UPPER_HALF, Style(color=above, bgcolor=below))
            for above, below in zip_longest(self._row(y * 2), self._row(y * 2 + 1))
        )

    def _row(self, number: int) -> list[Color]:
        width = self._made.width * 3
        row = self._made.data[number * width : (number + 1) * width]
        return [Color.from_rgb(*row[at : at + 3]) for at in range(0, len(row), 3)]
