"""A selection of text by mouse: from one character to another, over any number of blocks.

Invariant: what is copied is the logical text: no gutter, no quote bar, no line break that only
wrapping made. Counterpart: `painter.py`, which draws it.
"""

from __future__ import annotations

from typing import NamedTuple

from groupx_tui.widgets.timeline.document import Document, Ref


class Point(NamedTuple):
    """A place between two characters of a row's text."""

    block_id: str
    part_key: str
    row: int
    character: int


class Selection:
    """Two points of a document, in either order."""

    def __init__(self, document: Document, start: Point) -> None:
        self._document = document
        self._start = self._end = start

    def extend(self, end: Point) -> None:
        """Move the second point."""
        self._end = end

    def _ends(self) -> tuple[tuple[Ref, int], tuple[Ref, int]] | None:
        first, last = self._place(self._start), self._place(self._end)
        if first is None or last is None or first == last:
            return None
        return (first, last) if first <= last else (last, first)

    def _place(self, point: Point) -> tuple[Ref, int] | None:
        index = self._document.locate(point.block_id)
        if index is None:
            return None
        state = self._document.state(index)
        number = state.index_of(point.part_key)
        if number is None:
            return None
        rows = self._document.layout(state.parts[number]).rows
        return Ref(index, number, min(point.row, len(rows) - 1)), point.character

    def spans(self, rows: list[Ref]) -> dict[Ref, tuple[int, int]]:
        """Return which characters of which of the rows are selected."""
        ends = self._ends()
        if ends is None:
            return {}
        (first, start), (last, end) = ends
        return {
            ref: (
                start if ref == first else 0,
                end if ref == last else len(self._document.row(ref).text),
            )
            for ref in rows
            if first <= ref <= last and self._document.part(ref).is_content
        }

    def text(self) -> str:
        """Return the selected text, "" when the points are the same."""
        ends = self._ends()
        if ends is None:
            return ""
        (first, start), (last, end) = ends
        document, pieces = self._document, []
        ref: Ref | None = first
        while ref is not None and ref <= last:
            row = document.row(ref)
            if document.part(ref).is_content:
                is_last = ref == last
                pieces.append(row.text[start if ref == first else 0 : end if is_last else None])
                pieces.append("" if is_last else row.joiner)
            ref = document.down(ref)
        return "".join(pieces)
