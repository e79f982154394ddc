"""The lines on the screen now, and which of them a newer frame changes.

Invariant: a line that did not change is the same strip as before, so it is not sent again.
Counterpart: `painter.py` makes the lines; `widget.py` sends the changed ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from groupx_tui.render.palette import Role
from groupx_tui.render.row import Row
from groupx_tui.widgets.timeline.document import Ref
from groupx_tui.widgets.timeline.news import is_own
from groupx_tui.widgets.timeline.painter import Painter
from groupx_tui.widgets.timeline.reader import Reader

EMPTY_HINT = "No messages yet. Write below and press Enter; F1 shows the keys."


@dataclass(frozen=True, slots=True)
class Thumb:
    """The scrollbar's thumb: rows `start..end` of the window."""

    start: int
    end: int


class ScreenLines:
    """The last frame."""

    def __init__(self) -> None:
        self.strips: list[Strip] = []
        self.badge_from = -1
        """Column at which the badge begins in the last line; -1 without one."""

    def compose(
        self, reader: Reader, painter: Painter, height: int, *, has_cursor: bool, badge: str
    ) -> list[tuple[int, int]]:
        """Make the frame; returns the ranges `(first, count)` of lines that differ."""
        strips = list(self._lines(reader, painter, height, has_cursor=has_cursor))
        self.badge_from = -1
        if badge and strips:
            strips[-1] = painter.with_badge(strips[-1], badge)
            self.badge_from = max(0, painter.width - cell_len(badge) - 2)
        old, self.strips = self.strips, strips
        if len(old) != len(strips):
            return [(0, height)]
        return list(_ranges(old, strips))

    def _lines(
        self, reader: Reader, painter: Painter, height: int, *, has_cursor: bool
    ) -> Iterator[Strip]:
        rows, document = reader.viewport.rows, reader.document
        thumb = _thumb(reader, height)
        cursor = reader.cursor.found() if has_cursor else None
        spans = {} if reader.selection is None else reader.selection.spans(rows)
        hints = [] if rows else _hints(reader, painter)
        for y in range(height):
            has_thumb = thumb is not None and thumb.start <= y < thumb.end
            if y >= len(rows):
                yield hints.pop(0) if hints else painter.blank(has_thumb=has_thumb)
                continue
            ref, row = rows[y], document.row(rows[y])
            own = is_own(document.blocks[ref.block]) and document.part(ref).is_content
            if ref in spans:
                start, end = spans[ref]
                yield painter.selected_line(row, start, end, is_own=own, has_thumb=has_thumb)
            elif cursor is not None and ref == cursor.ref:
                yield painter.cursor_line(row, has_thumb=has_thumb)
            else:
                strip = painter.line(row, is_own=own, has_thumb=has_thumb)
                for span in reader.hits_in(ref, row):
                    strip = painter.marked(strip, row, span, Role.HIT)
                yield strip


def _hints(reader: Reader, painter: Painter) -> list[Strip]:
    style = painter.palette.style(Role.DIM)
    return [
        painter.line(Row(Strip([Segment(text, style)])), is_own=False, has_thumb=False)
        for text in (EMPTY_HINT, *reader.scene.empty_hints)
    ]


def _ranges(old: list[Strip], new: list[Strip]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines that differ; an equal new strip is replaced by the old one."""
    start = None
    for y, (before, after) in enumerate(zip(old, new, strict=True)):
        if before is after or before == after:
            new[y] = before
            if start is not None:
                yield start, y - start
                start = None
        elif start is None:
            start = y
    if start is not None:
        yield start, len(new) - start


def _thumb(reader: Reader, height: int) -> Thumb | None:
    """Return where the thumb is, from the heights known or guessed; None when all is visible."""
    rows, document = reader.viewport.rows, reader.document
    if not rows:
        return None
    total = document.total_height
    if total <= height and len(rows) <= height and _is_whole(reader, rows):
        return None
    size = max(1, min(height, round(height * height / max(1, total))))
    if reader.viewport.is_following:
        return Thumb(height - size, height)
    room = max(1, total - height)
    start = round((height - size) * min(1.0, document.offset_of(rows[0]) / room))
    return Thumb(start, start + size)


def _is_whole(reader: Reader, rows: list[Ref]) -> bool:
    return rows[0] == reader.document.first() and reader.viewport.is_at_end
