"""One reader of a timeline: what he sees, where his cursor is, what he selected, what is new.

The whole behaviour of the widget without a terminal: views and commands in, rows out. Counterpart:
`widget.py`, which draws the rows and speaks to the app.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from groupx_tui.render.palette import Palette
from groupx_tui.render.row import Row
from groupx_tui.state.model import TimelineView, TurnBlock
from groupx_tui.widgets.timeline.blockstate import copy_text
from groupx_tui.widgets.timeline.cursor import Cursor, Found
from groupx_tui.widgets.timeline.document import Document, Ref, Scene
from groupx_tui.widgets.timeline.folds import FOLD_KINDS, FoldKind, Folds, fold_of
from groupx_tui.widgets.timeline.lineselection import LineSelection
from groupx_tui.widgets.timeline.messages import Position
from groupx_tui.widgets.timeline.news import News, is_own
from groupx_tui.widgets.timeline.parts import Part
from groupx_tui.widgets.timeline.selection import Point, Selection
from groupx_tui.widgets.timeline.threads import THREAD, Arrangement, Threads, thread_id, thread_of
from groupx_tui.widgets.timeline.viewport import Anchor, Viewport

MAX_LOOKED_AT = 20_000
"""Rows of one block in which a hit is looked for; beyond them the block's beginning is shown."""
LINES_WITHOUT_STOP = 3
"""How far the cursor keys scroll through text that has no place to stand on."""


@dataclass(slots=True)
class _RoomMemory:
    """What is kept of a room while another one is shown."""

    anchor: Anchor | None = None
    folds: Folds = field(default_factory=Folds)
    news: News = field(default_factory=News)
    unread_id: str | None = None
    unread_since: str = ""


class Reader:
    """The state of reading."""

    def __init__(self, scene: Scene, say_time: Callable[[], str]) -> None:
        """`say_time` returns the time of day as it is drawn."""
        self.scene = scene
        self._say_time = say_time
        self.document = Document(scene)
        self.viewport = Viewport(self.document)
        self.cursor = Cursor(self.document)
        self.selection: Selection | None = None
        self.news = News()
        self.wanted: re.Pattern[str] | None = None
        """What is looked for: marked wherever it is on the screen."""
        self.view = TimelineView("")
        self._rooms: dict[str, _RoomMemory] = {}
        self._left_by_fold = False
        self._threads = Threads()
        self._lines = LineSelection(self.document)

    # What comes in.

    def show(self, view: TimelineView) -> None:
        """Take a newer view, of this room or of another one."""
        if view.room_id != self.view.room_id:
            self._switch(view)
            return
        self.view = view
        self.viewport.show(view, self._arranged())
        self._note_news()

    def _arranged(self) -> Arrangement:
        """What is drawn of the blocks: exchanges of agents are folded."""
        return self._threads.arrange(self.view.blocks, self.scene.folds)

    def _note_news(self) -> None:
        if not self.viewport.is_following and self.news.note(self.document):
            self.redraw()

    def _switch(self, view: TimelineView) -> None:
        self._rooms[self.view.room_id] = _RoomMemory(
            self.viewport.anchor,
            self.scene.folds,
            self.news,
            self.scene.unread_id,
            self.scene.unread_since,
        )
        memory = self._rooms.pop(view.room_id, _RoomMemory())
        self.scene.folds, self.news = memory.folds, memory.news
        self.scene.unread_id, self.scene.unread_since = memory.unread_id, memory.unread_since
        self.cursor.place = self.selection = None
        self.view = view
        self.viewport.follow()
        self.viewport.show(view, self._arranged())
        anchor = memory.anchor
        if anchor is not None and self.document.locate(anchor.block_id) is not None:
            self.viewport.hold(anchor)
            self._note_news()
        else:
            self.news.back()

    def resize(self, width: int, height: int) -> None:
        """Lay out for another window; `width` is that of the text."""
        if width != self.scene.width:
            self.selection = None
        self.scene.width, self.viewport.height = width, height
        self.redraw()

    def use(self, palette: Palette) -> None:
        """Draw with other colours."""
        self.scene.palette = palette
        self.redraw()

    def redraw(self) -> None:
        """Compute the rows again: the scene changed."""
        self.document.touch()
        self.viewport.refill()

    # Moving.

    def scroll(self, lines: int) -> None:
        """Scroll down by `lines` (negative: up)."""
        was_following = self.viewport.is_following
        self.viewport.scroll(lines)
        self._left_by_fold = False
        self._followed(was_following)

    def end(self) -> None:
        """Go to the end and follow it."""
        self.viewport.follow()
        self.news.back()

    def first(self) -> None:
        """Go to the first loaded row."""
        ref = self.document.first()
        if ref is not None:
            self._hold(self.viewport.anchor_at(ref, 0))
        if self.viewport.is_at_end:  # all of it is on the screen
            self.end()

    def scroll_to_share(self, share: float) -> None:
        """Go to a place by its share of the loaded rows: 0 the first one, 1 the end."""
        room = self.document.total_height - self.viewport.height
        ref = self.document.ref_at(round(share * max(0, room)))
        if ref is None or share >= 1:
            self.end()
        else:
            self._hold(self.viewport.anchor_at(ref, 0))

    def bring(self, block_id: str, part_key: str = "head", y: int = 1) -> bool:
        """Bring a part of a block near the top of the window; False when it is not loaded."""
        if self._unfolded(block_id) is None:
            return False
        self._hold(Anchor(block_id, part_key, 0, y))
        return True

    def _unfolded(self, block_id: str) -> int | None:
        """Return the index of a block, after opening the exchange that hides it; None when it is
        not loaded."""
        index = self.document.locate(block_id)
        if index is not None:
            return index
        block = next((block for block in self.view.blocks if block.block_id == block_id), None)
        if block is None or not (root := thread_of(block)):
            return None
        self.scene.folds.toggle(thread_id(root), THREAD)
        self.document.show(self.view, self._arranged())
        return self.document.locate(block_id)

    def seq_at_eye(self) -> int | None:
        """Return the newest event on the screen; None while the end is followed."""
        if self.viewport.is_following or not self.viewport.rows:
            return None
        blocks = (self.document.blocks[ref.block] for ref in self.viewport.rows)
        return max((block.order_seq or 0 for block in blocks), default=None)

    def hits_in(self, ref: Ref, row: Row) -> list[tuple[int, int]]:
        """Return what is looked for in a row: from which character to which."""
        if self.wanted is None or not _is_text(self.document.part(ref)):
            return []
        return [found.span() for found in self.wanted.finditer(row.text)]

    def bring_hit(self, block_id: str) -> bool:
        """Bring the first place of what is looked for in a block into the window, else the block;
        False when it is not loaded."""
        index = self._unfolded(block_id)
        if index is None:
            return False
        looked_at = 0
        for part in self.document.state(index).parts:
            if self.wanted is None or looked_at > MAX_LOOKED_AT:
                break
            rows = self.document.layout(part).rows
            looked_at += len(rows)
            for row in rows if _is_text(part) else ():
                if self.wanted.search(row.text):
                    self._hold(Anchor(block_id, part.key, row.at, self.viewport.height // 3))
                    return True
        return self.bring(block_id)

    def _hold(self, anchor: Anchor) -> None:
        was_following = self.viewport.is_following
        self.viewport.hold(anchor)
        self._followed(was_following)

    def _followed(self, was_following: bool) -> None:
        """Note that the end was left, or reached."""
        if self.viewport.is_following:
            self.news.back()
        elif was_following:
            self.news.leave(self.document, self._say_time())

    def mark_unread(self, after_seq: int | None, since: str) -> None:
        """Draw the unread line before the first block of a later seq; None takes it away."""
        self.scene.unread_id = None
        if after_seq is not None:
            self.news.leave(self.document, since, after_seq)
            self.news.note(self.document)
            if self.viewport.is_following:
                self.news.back()
        self.redraw()

    def own_message(self, step: int) -> str | None:
        """Return the id of the reader's own message before (-1) or after (1) the top row."""
        rows = self.viewport.rows
        if not rows:
            return None
        top = next((ref for ref in rows if self.document.part(ref).is_content), rows[0])
        is_at_head = top.row == 0 and self.document.part(top).key == "head"
        index = top.block if step < 0 and not is_at_head else top.block + step
        while 0 <= index < len(self.document.blocks):
            if is_own(self.document.blocks[index]):
                return self.document.blocks[index].block_id
            index += step
        return None

    # The cursor and what it stands on.

    def move_cursor(self, step: int) -> None:
        """Put the cursor on the next (1) or previous (-1) stop; where none is on the screen,
        scroll a little instead, so that nothing is skipped unread."""
        rows = self.viewport.rows
        if not rows:
            return
        here = self.cursor.found()
        if here is not None and here.ref in rows:
            start = here.ref
        else:
            edge = rows[0] if step > 0 else rows[-1]
            start = edge._replace(row=edge.row - step)
        found = self.cursor.after(start) if step > 0 else self.cursor.before(start)
        if found is not None and found.ref in rows:
            self.cursor.place = found.place
            return
        self.scroll(step * LINES_WITHOUT_STOP)
        if found is not None and found.ref in self.viewport.rows:
            self.cursor.place = found.place

    def target(self) -> Found | None:
        """Return what keys act on: the stop under the cursor, else the block at the eye (the last
        one while following, else the first on the screen)."""
        here = self.cursor.found()
        rows = self.viewport.rows
        if here is not None or not rows:
            return here
        block = rows[-1].block if self.viewport.is_following else self._eye(rows)
        state = self.document.state(block)
        head = state.index_of("head") or state.index_of(THREAD)
        return self.cursor.at(Ref(block, head or 0, 0))

    def _eye(self, rows: list[Ref]) -> int:
        """Return the block of the first row of content."""
        content = (ref.block for ref in rows if self.document.part(ref).is_content)
        return next(content, rows[0].block)

    def toggle(self, found: Found) -> bool:
        """Fold or unfold what a stop stands for; False when it has nothing to fold. The stop's
        line stays where it is on the screen."""
        block_id = found.place.block_id
        if found.stop.kind == "fold":
            self._keeping(found, lambda: self.scene.folds.toggle(block_id, found.place.part_key))
            return True
        fold = fold_of(found.place.part_key)
        if fold is not None:  # inside an open fold: close it
            self._keeping(found, lambda: self.scene.folds.toggle(block_id, fold))
            return True
        block = self.document.blocks[found.ref.block]
        if found.stop.kind == "code" or not isinstance(block, TurnBlock):
            return False
        return self._toggle_all(found, block)

    def _toggle_all(self, found: Found, block: TurnBlock) -> bool:
        """Unfold all folds of a turn, or fold them when all are open."""
        keys: list[tuple[FoldKind, str]] = [("tool", f"tool:{t.call_id}") for t in block.tools]
        keys += [("reasoning", "reasoning")] if len(block.reasoning) else []
        keys += [("plan", "plan")] if block.plan else []
        if not keys:
            return False
        folds = self.scene.folds
        shut = [key for kind, key in keys if not folds.is_open(block.block_id, kind, key)]

        def change() -> None:
            for key in shut or [key for _, key in keys]:
                folds.toggle(block.block_id, key)

        self._keeping(found, change)
        return True

    def select_line(self, step: int) -> None:
        """Select the line at the cursor, then one more in a direction (1: down) each time."""
        rows = self.viewport.rows
        if not rows:
            return
        here = self.cursor.found()
        content = (ref for ref in rows if self.document.part(ref).is_content)
        start = here.ref if here is not None and here.ref in rows else next(content, rows[0])
        self.selection, end = self._lines.grow(self.selection, start, step)
        if end not in self.viewport.rows:
            self.scroll(step)

    def toggle_fold(self, block_id: str, key: str) -> None:
        """Fold or unfold one fold; the line at the eye stays where it is."""
        self._keeping(None, lambda: self.scene.folds.toggle(block_id, key))

    def set_folds(self, kinds: tuple[FoldKind, ...], *, is_open: bool) -> None:
        """Unfold or fold all of some kinds; the line at the eye stays where it is."""

        def change() -> None:
            for kind in kinds:
                self.scene.folds.set_kind(kind, is_open=is_open)

        self._keeping(None, change)

    def folds_are_open(self, kind: FoldKind) -> bool:
        """Whether all of a kind are open by rule."""
        return kind in FOLD_KINDS and self.scene.folds.kind_is_open(kind)

    def _keeping(self, found: Found | None, change: Callable[[], None]) -> None:
        """Make a change of folds without moving the stop's line, or the eye's."""
        rows = self.viewport.rows
        was_following = self.viewport.is_following
        eye = found.ref if found is not None and found.ref in rows else None
        if eye is None and rows:
            eye = next((ref for ref in rows if self.document.part(ref).is_content), rows[0])
        if eye is None:
            return
        anchor = self._outside_fold(self.viewport.anchor_at(eye, rows.index(eye)))
        change()
        old = self.document.blocks
        self.document.show(self.view, self._arranged())
        self.viewport.hold(self.viewport.survivor(anchor, old) or anchor)
        if self.viewport.is_at_end and (was_following or self._left_by_fold):
            self.viewport.follow()
        self._left_by_fold = was_following and not self.viewport.is_following
        self._followed(was_following)

    def _outside_fold(self, anchor: Anchor) -> Anchor:
        """Return the anchor, on the fold's header when it lies inside a fold that may close."""
        fold = fold_of(anchor.part_key)
        if fold is None or fold == anchor.part_key:
            return anchor
        return Anchor(anchor.block_id, fold, 0, anchor.y)

    def text_of(self, found: Found) -> tuple[str, str]:
        """Return what copying at a stop gives, and its name."""
        block = self.document.blocks[found.ref.block]
        if found.stop.kind == "code":
            inside = fold_of(found.place.part_key) is not None
            return found.stop.text, "tool output" if inside else "code"
        if found.place.part_key == "reasoning" and isinstance(block, TurnBlock):
            return str(block.reasoning), "reasoning"
        return self.block_text(found)

    def block_text(self, found: Found) -> tuple[str, str]:
        """Return the text of the block that a stop is in, and its name."""
        block = self.document.blocks[found.ref.block]
        return copy_text(block), "answer" if isinstance(block, TurnBlock) else "message"

    def code(self) -> Found | None:
        """Return the code block under the cursor, else the last one that begins on the screen or
        reaches into it."""
        here = self.cursor.found()
        if here is not None and here.stop.kind == "code":
            return here
        rows = self.viewport.rows
        if not rows:
            return None
        found = self.cursor.before(rows[-1]._replace(row=rows[-1].row + 1))
        while found is not None and found.stop.kind != "code":
            found = self.cursor.before(found.ref)
            if found is not None and found.ref.block < rows[0].block:
                return None
        return found

    # The selection.

    def point(self, y: int, character: int) -> Point | None:
        """Return the point at a character of the row at `y`."""
        rows = self.viewport.rows
        if not rows:
            return None
        ref = rows[max(0, min(y, len(rows) - 1))]
        block_id = self.document.blocks[ref.block].block_id
        return Point(block_id, self.document.part(ref).key, ref.row, character)

    # What is told.

    def position(self) -> Position:
        """Return which messages are on the screen."""
        rows, view, document = self.viewport.rows, self.view, self.document
        if not rows:
            return Position(0, 0, view.total_messages)
        top, bottom, count = self._eye(rows), self._eye(rows[::-1]) + 1, len(document.blocks)
        seen = document.counted(top, bottom)
        if not view.has_more_after:
            last = view.total_messages - document.counted(bottom, count)
        elif not view.has_more_before:
            last = document.counted(0, bottom)
        else:
            share = (document.blocks[bottom - 1].order_seq or 0) / max(1, view.total_events)
            last = round(share * view.total_messages)
        is_exact = not (view.has_more_after and view.has_more_before)
        last = max(0, min(last, view.total_messages))
        first = max(min(1, last), last - max(seen, 1) + 1)
        return Position(first, last, view.total_messages, is_exact)

    def new_below(self) -> tuple[int, int]:
        """Return how many blocks, and lines of older ones, are new below the window."""
        rows = self.viewport.rows
        if self.viewport.is_following or not rows:
            return 0, 0
        blocks, lines = self.news.count(self.document, self._eye(rows[::-1]))
        return blocks + self.view.new_after, 0 if self.viewport.is_at_end else lines


def _is_text(part: Part) -> bool:
    """Whether a part is what somebody said: not a header, not a line about the block."""
    return part.is_content and part.key not in ("head", "foot")
