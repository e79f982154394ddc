"""Makes whole lines of the screen out of rows: gutter, cursor, selection, badge, scrollbar.

Invariant: every line is exactly as wide as the widget. A plain line is made once for each row and
kept there; lines with a cursor, a selection or the badge are made anew.
"""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.row import Row

GUTTER: Final = 2
"""Cells left of the text: a bar for the reader's own messages, or the cursor's mark."""

SCROLLBAR: Final = 1

_OWN_BAR: Final = "▌ "
_CURSOR_MARK: Final = "❯ "
_THUMB: Final = "┃"


def text_width(width: int) -> int:
    """Return the cells for text in a widget of `width` cells."""
    return max(8, width - GUTTER - SCROLLBAR)


class Painter:
    """Paints for one width and palette."""

    def __init__(self, width: int, palette: Palette) -> None:
        self.width = width
        self.palette = palette
        self._cells = max(0, width - SCROLLBAR)

    def line(self, row: Row, *, is_own: bool, has_thumb: bool) -> Strip:
        """Return the row as a whole line."""
        key = (self.palette, self.width, is_own, has_thumb)
        strip = row.drawn.get(key)
        if strip is None:
            gutter = (_OWN_BAR, Role.USER) if is_own else (" " * GUTTER, None)
            row.drawn.clear()
            strip = row.drawn[key] = self._whole(row, gutter, None, has_thumb)
        return strip

    def cursor_line(self, row: Row, *, has_thumb: bool) -> Strip:
        """Return the row as the line that the cursor is on."""
        return self._whole(row, (_CURSOR_MARK, Role.CURSOR), Role.CURSOR, has_thumb)

    def selected_line(
        self, row: Row, start: int, end: int, *, is_own: bool, has_thumb: bool
    ) -> Strip:
        """Return the row with the characters `start..end` of its text selected."""
        strip = self.line(row, is_own=is_own, has_thumb=has_thumb)
        return self.marked(strip, row, (start, end), Role.SELECTION)

    def marked(self, strip: Strip, row: Row, span: tuple[int, int], role: Role) -> Strip:
        """Return a line of the row with some characters of its text in the style of a role."""
        start, end = span
        left = GUTTER + row.start + cell_len(row.text[:start])
        right = left + cell_len(row.text[start:end])
        if right <= left:
            return strip
        style = self.palette.roles.get(role, Style())
        before, middle, after = (
            strip.crop(0, left),
            strip.crop(left, right),
            strip.crop(right, self.width),
        )
        marked = Strip(
            [Segment(text, (own or Style()) + style) for text, own, _ in middle],
            middle.cell_length,
        )
        return Strip.join([before, marked, after])

    def blank(self, *, has_thumb: bool) -> Strip:
        """Return an empty line."""
        return self._whole(Row(Strip([], 0)), ("", None), None, has_thumb)

    def with_badge(self, strip: Strip, badge: str) -> Strip:
        """Return the line with the badge in its right corner."""
        left = max(0, self._cells - cell_len(badge) - 1)
        mark = Segment(badge, self.palette.style(Role.BADGE))
        end = left + cell_len(badge)
        joined = Strip.join([strip.crop(0, left), Strip([mark]), strip.crop(end, self.width)])
        return joined.adjust_cell_length(self.width, self.palette.base)

    def _whole(
        self, row: Row, gutter: tuple[str, Role | None], laid: Role | None, has_thumb: bool
    ) -> Strip:
        palette = self.palette
        mark, role = gutter
        segments = [Segment(mark, palette.base if role is None else palette.style(role))]
        content = row.strip.adjust_cell_length(
            max(0, self._cells - len(mark)), row.fill or palette.base
        )
        if laid is None:
            segments += content
        else:
            segments += [
                Segment(text, palette.over(style or palette.base, laid))
                for text, style, _ in content
            ]
        thumb = palette.style(Role.SCROLL_THUMB) if has_thumb else palette.base
        segments.append(Segment(_THUMB if has_thumb else " " * SCROLLBAR, thumb))
        # Each segment costs its colours in bytes: neighbours of one style are sent as one.
        strip = Strip(Segment.simplify(segment for segment in segments if segment.text))
        return strip.adjust_cell_length(self.width, palette.base)


def character_at(row: Row, x: int) -> int:
    """Return the index in the row's text of the character at column `x` of the widget."""
    cells = x - GUTTER - row.start
    if cells <= 0:
        return 0
    used = 0
    for start, _end, size in split_graphemes(row.text)[0]:
        used += size
        if used > cells:
            return start
    return len(row.text)
