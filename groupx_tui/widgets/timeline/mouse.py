"""The mouse in the timeline: clicks, drags over text, drags of the scrollbar.

Pure state: coordinates of the widget in, changes of the reader out. Counterpart: `widget.py`,
which receives Textual's events and captures the mouse while a button is down.
"""

from __future__ import annotations

from enum import Enum, auto

from groupx_tui.widgets.timeline.cursor import Found
from groupx_tui.widgets.timeline.painter import character_at
from groupx_tui.widgets.timeline.reader import Reader
from groupx_tui.widgets.timeline.selection import Point, Selection

WHEEL_LINES = 3
"""Lines that one notch of the wheel scrolls, as in most terminal programs."""


class _Drag(Enum):
    NONE = auto()
    TEXT = auto()
    BAR = auto()


class Mouse:
    """What the button that is down is doing."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._drag = _Drag.NONE
        self._pressed: tuple[int, int] = (0, 0)

    @property
    def is_down(self) -> bool:
        """Whether a press is being followed."""
        return self._drag is not _Drag.NONE

    def press(self, x: int, y: int, *, is_on_bar: bool, height: int) -> None:
        """The button went down."""
        self._reader.selection = None
        self._pressed = (x, y)
        self._drag = _Drag.BAR if is_on_bar else _Drag.TEXT
        if is_on_bar:
            self._reader.scroll_to_share(y / max(1, height - 1))

    def move(self, x: int, y: int, height: int) -> bool:
        """The mouse moved; returns whether that was a drag."""
        if self._drag is _Drag.NONE:
            return False
        if self._drag is _Drag.BAR:
            self._reader.scroll_to_share(min(1.0, max(0.0, y / max(1, height - 1))))
            return True
        if self._reader.selection is None:
            if (x, y) == self._pressed:
                return False
            start = self._point(*self._pressed)
            if start is None:
                return False
            self._reader.selection = Selection(self._reader.document, start)
        if y < 0 or y >= height:
            self._reader.scroll(-1 if y < 0 else 1)
        end = self._point(x, y)
        if end is not None:
            self._reader.selection.extend(end)
        return True

    def release(self, y: int) -> Found | None:
        """The button went up; returns the stop that was clicked."""
        drag, self._drag = self._drag, _Drag.NONE
        rows = self._reader.viewport.rows
        if drag is not _Drag.TEXT or self._reader.selection is not None:
            return None
        return self._reader.cursor.at(rows[y]) if 0 <= y < len(rows) else None

    def _point(self, x: int, y: int) -> Point | None:
        rows = self._reader.viewport.rows
        if not rows:
            return None
        row = self._reader.document.row(rows[max(0, min(y, len(rows) - 1))])
        return self._reader.point(y, character_at(row, x))
