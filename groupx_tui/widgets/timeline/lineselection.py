"""Selecting whole lines by keys: from a line to another, over any number of blocks.

Invariant: what is selected is whole lines of content, whichever way it grows. Counterpart:
`selection.py`, which says what text that is.
"""

from __future__ import annotations

from collections.abc import Callable

from groupx_tui.widgets.timeline.document import Document, Ref
from groupx_tui.widgets.timeline.selection import Point, Selection


class LineSelection:
    """Grows a selection of one document line by line."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._made: Selection | None = None
        self._anchor = self._end = Point("", "", 0, 0)

    def grow(self, current: Selection | None, start: Ref, step: int) -> tuple[Selection, Ref]:
        """Return the selection after one key, and the line where it ends now. One that `current`
        is not (dropped, or made by the mouse) begins anew with the line `start`."""
        if current is None or current is not self._made:
            self._anchor = self._end = self._point(start)
            ref = start
        else:
            ref = self._moved(self._ref(self._end) or start, step)
            self._end = self._point(ref)
        self._made = self._between(self._ref(self._anchor) or start, ref)
        return self._made, ref

    def _moved(self, ref: Ref, step: int) -> Ref:
        """The next line of content; the same one at the end."""
        walk: Callable[[Ref], Ref | None] = self._document.down if step > 0 else self._document.up
        found = walk(ref)
        while found is not None and not self._document.part(found).is_content:
            found = walk(found)
        return ref if found is None else found

    def _between(self, anchor: Ref, end: Ref) -> Selection:
        first, last = sorted((anchor, end))
        made = Selection(self._document, self._point(first))
        made.extend(self._point(last, len(self._document.row(last).text)))
        return made

    def _point(self, ref: Ref, character: int = 0) -> Point:
        block_id = self._document.blocks[ref.block].block_id
        return Point(block_id, self._document.part(ref).key, ref.row, character)

    def _ref(self, point: Point) -> Ref | None:
        index = self._document.locate(point.block_id)
        part = None if index is None else self._document.state(index).index_of(point.part_key)
        return None if index is None or part is None else Ref(index, part, point.row)
