"""Which rows are on the screen: follows the end, or holds the line under the reader's eye.

Invariants: while the reader is away from the end, nothing but his own scrolling moves the first
line of content that he sees: not text that comes, not pages put before it, not a resize (the line
with the same text stays at the same height). Only rows near the window are laid out.
Counterpart: `document.py`, whose rows these are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from groupx_tui.state.model import Shown, TimelineView
from groupx_tui.widgets.timeline.document import Document, Ref
from groupx_tui.widgets.timeline.threads import Arrangement


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in the text and the screen row where it is held."""

    block_id: str
    part_key: str
    at: int
    """Logical place in the part's text, so it is found again at another width."""
    y: int


class Viewport:
    """The window on a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.height = 0
        self.rows: list[Ref] = []
        """What is on the screen, from the top; shorter than `height` when there is no more."""
        self.is_following = True
        self._anchor: Anchor | None = None
        self._is_clamped = False

    @property
    def anchor(self) -> Anchor | None:
        """What is held, while not following."""
        return None if self.is_following else self._anchor

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is on the screen."""
        if not self.rows:
            return True
        last = self.rows[-1]
        is_last_block = last.block == len(self._document.blocks) - 1
        return is_last_block and last == self._document.last()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.is_following, self._anchor = True, None
        self.refill()

    def hold(self, anchor: Anchor) -> None:
        """Leave the end and hold a place."""
        self.is_following, self._anchor = False, anchor
        self.refill()
        self._settle()

    def refill(self) -> None:
        """Compute the rows anew: after a `show`, a resize, a fold."""
        document = self._document
        self._is_clamped = False
        start = None if self.is_following or self._anchor is None else self._find(self._anchor)
        if start is None or self._anchor is None:
            last = document.last()
            above = [] if last is None else self._walk(document.up, last, self.height - 1)
            self.rows = [*reversed(above), *([] if last is None else [last])]
        else:
            self.rows = self._around(start, self._anchor.y)
        if len(self.rows) < self.height and self.rows:
            more = self._walk(document.down, self.rows[-1], self.height - len(self.rows))
            self.rows += more
        document.end_frame()

    def _around(self, start: Ref, y: int) -> list[Ref]:
        document = self._document
        y = max(0, min(y, self.height - 1))
        above = self._walk(document.up, start, y)
        below = self._walk(document.down, start, self.height - 1 - len(above))
        rows = [*reversed(above), start, *below]
        if len(rows) < self.height:  # the end is above the bottom: come down to it
            more = self._walk(document.up, rows[0], self.height - len(rows))
            self._is_clamped = bool(more)
            rows = [*reversed(more), *rows]
        return rows

    def _walk(self, step: Callable[[Ref], Ref | None], ref: Ref, count: int) -> list[Ref]:
        """Return up to `count` rows from the one after `ref` on."""
        rows: list[Ref] = []
        while len(rows) < count:
            following = step(ref)
            if following is None:
                break
            rows.append(following)
            ref = following
        return rows

    def _find(self, anchor: Anchor) -> Ref | None:
        """Return the row that an anchor names, or the nearest one that is left of its block."""
        index = self._document.locate(anchor.block_id)
        if index is None:
            return None
        state = self._document.state(index)
        parts, part = state.parts, state.index_of(anchor.part_key)
        if part is None:
            part = next((n for n, part in enumerate(parts) if part.is_content), 0)
            return Ref(index, part, 0)
        rows = self._document.layout(parts[part]).rows
        row = max((n for n, row in enumerate(rows) if row.at <= anchor.at), default=0)
        return Ref(index, part, row)

    def show(self, view: TimelineView, arrangement: Arrangement | None = None) -> None:
        """Show other blocks: the eye's line stays where it is, or the end stays in view.
        `arrangement`: what is drawn of them."""
        if self._is_clamped:  # what a resize had moved stays where it is now
            self._settle()
        old = self._document.blocks
        self._document.show(view, arrangement)
        if self._anchor is not None:
            self._anchor = self.survivor(self._anchor, old)
        self.refill()
        if self._anchor is None:  # nothing of what was read is loaded any more
            self._settle()

    def survivor(self, anchor: Anchor, old: tuple[Shown, ...]) -> Anchor | None:
        """Return the anchor, or one on the nearest block of `old` that is still there, when its own
        is not; None when none is."""
        if self._document.locate(anchor.block_id) is not None:
            return anchor
        ids = [block.block_id for block in old]
        start = ids.index(anchor.block_id) if anchor.block_id in ids else 0
        for block_id in [*ids[start:], *reversed(ids[:start])]:
            if self._document.locate(block_id) is not None:
                return Anchor(block_id, "head", 0, anchor.y)
        return None

    def scroll(self, lines: int) -> None:
        """Scroll down by `lines` (negative: up). Scrolling on at the very end follows it."""
        if not self.rows or not lines or (lines > 0 and self.is_following):
            return
        step = self._document.down if lines > 0 else self._document.up
        moved = self._walk(step, self.rows[-1 if lines > 0 else 0], abs(lines))
        if lines > 0 and len(moved) < lines and not self._document.has_more_after:
            self.follow()
        elif moved:
            self._hold_rows(moved if lines > 0 else list(reversed(moved)), down=lines > 0)

    def _hold_rows(self, moved: list[Ref], *, down: bool) -> None:
        """Make the window end (or begin) with the rows scrolled to."""
        self.is_following = False
        rows = [*self.rows, *moved][-self.height :] if down else [*moved, *self.rows]
        self.rows = rows[: self.height]
        self._settle()
        self.refill()

    def _settle(self) -> None:
        """Hold what is on the screen now."""
        self._is_clamped = False
        if not self.is_following:
            self._settle_on(self.rows)

    def _settle_on(self, rows: list[Ref]) -> None:
        """Anchor on the first row of content: pages and dates put above it leave it alone."""
        document = self._document
        for y, ref in enumerate(rows):
            if document.part(ref).is_content:
                self._anchor = self.anchor_at(ref, y)
                return
        if rows:
            self._anchor = self.anchor_at(rows[0], 0)

    def anchor_at(self, ref: Ref, y: int) -> Anchor:
        """Return the anchor that holds a row at a height."""
        part = self._document.part(ref)
        return Anchor(
            self._document.blocks[ref.block].block_id, part.key, self._document.row(ref).at, y
        )

    def moved(self, anchor: Anchor, y: int) -> Anchor:
        """Return an anchor on the same text at another height of the window."""
        return replace(anchor, y=max(0, min(y, self.height - 1)))
