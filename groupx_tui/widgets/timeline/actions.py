"""What keys can do in the timeline, as Textual actions. The app binds the keys.

Counterpart: `reader.py`, which does it; `widget.py` draws what changed.
"""

from __future__ import annotations

from textual.widget import Widget

from groupx_tui.widgets.timeline.cursor import Found
from groupx_tui.widgets.timeline.folds import FOLD_KINDS, FoldKind
from groupx_tui.widgets.timeline.messages import BlockActivated, CopyRequested, NeedEnd
from groupx_tui.widgets.timeline.reader import Reader

_KEPT_LINES = 2
"""Lines of the window that stay visible when a page is turned, so that the eye finds its place."""


class TimelineActions(Widget):
    """The actions of `Timeline`."""

    _reader: Reader

    def _changed(self) -> None:
        """Draw what differs and tell the app; `Timeline` does it."""
        raise NotImplementedError

    def _ask_again(self) -> None:
        """Forget which pages were asked for: the reader waits at an edge."""
        raise NotImplementedError

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by `lines` (negative: up). Leaves the end when up; scrolling on at the very
        end follows again."""
        before = self._reader.viewport.rows
        self._reader.scroll(lines)
        if self._reader.viewport.rows == before:
            self._ask_again()
        self._changed()

    def _page(self) -> int:
        return max(1, self._reader.viewport.height - _KEPT_LINES)

    def action_line_up(self) -> None:
        """Scroll one line up."""
        self.scroll_lines(-1)

    def action_line_down(self) -> None:
        """Scroll one line down."""
        self.scroll_lines(1)

    def action_page_up(self) -> None:
        """Scroll a window up, less two lines."""
        self.scroll_lines(-self._page())

    def action_page_down(self) -> None:
        """Scroll a window down, less two lines."""
        self.scroll_lines(self._page())

    def action_half_page_up(self) -> None:
        """Scroll half a window up."""
        self.scroll_lines(-max(1, self._page() // 2))

    def action_half_page_down(self) -> None:
        """Scroll half a window down."""
        self.scroll_lines(max(1, self._page() // 2))

    def action_first(self) -> None:
        """Go to the first loaded line and ask for what is before it."""
        self._reader.first()
        self._ask_again()
        self._changed()

    def action_end(self) -> None:
        """Go to the end and follow it."""
        self._reader.end()
        if self._reader.view.has_more_after:
            self.post_message(NeedEnd(self._reader.view.room_id))
        self._changed()

    def action_previous_message(self) -> None:
        """Bring the previous message of the reader to the top."""
        block_id = self._reader.own_message(-1)
        if block_id is None:
            self.action_first()
        else:
            self._reader.bring(block_id, y=0)
            self._changed()

    def action_next_message(self) -> None:
        """Bring the next message of the reader to the top, or go to the end."""
        block_id = self._reader.own_message(1)
        if block_id is None:
            self.action_end()
        else:
            self._reader.bring(block_id, y=0)
            self._changed()

    def action_cursor_previous(self) -> None:
        """Put the cursor on the previous stop: a block, a fold, a code block. Where none is on
        the screen, scroll a little instead."""
        self._reader.move_cursor(-1)
        self._changed()

    def action_cursor_next(self) -> None:
        """Put the cursor on the next stop. Where none is on the screen, scroll a little."""
        self._reader.move_cursor(1)
        self._changed()

    def action_toggle_block(self) -> None:
        """Fold or unfold what the cursor is on; without a cursor the block at the eye. On a
        block with nothing to fold: `BlockActivated`."""
        found = self._reader.target()
        if found is not None:
            self._toggle(found)

    def _toggle(self, found: Found) -> None:
        if not self._reader.toggle(found):
            self.post_message(BlockActivated(found.place.block_id))
        self._changed()

    def _toggle_kind(self, kind: FoldKind) -> None:
        is_open = self._reader.folds_are_open(kind)
        self._reader.set_folds((kind,), is_open=not is_open)
        self._changed()

    def action_toggle_reasoning(self) -> None:
        """Unfold all reasoning, or fold it again."""
        self._toggle_kind("reasoning")

    def action_toggle_tools(self) -> None:
        """Unfold all tool calls, or fold them again."""
        self._toggle_kind("tool")

    def action_toggle_threads(self) -> None:
        """Unfold all exchanges of agents, or fold them again."""
        self._toggle_kind("thread")

    def action_toggle_time(self) -> None:
        """Show how long ago things were, or when again."""
        self._toggle_time()

    def _toggle_time(self) -> None:
        """`Timeline` has the clock."""
        raise NotImplementedError

    def toggle_fold(self, block_id: str, key: str) -> None:
        """Unfold or fold one fold, named by its block and the part key of its line."""
        self._reader.toggle_fold(block_id, key)
        self._changed()

    def action_fold_all(self) -> None:
        """Fold all reasoning, plans and tool calls."""
        self._reader.set_folds(FOLD_KINDS, is_open=False)
        self._changed()

    def action_unfold_all(self) -> None:
        """Unfold all reasoning, plans and tool calls."""
        self._reader.set_folds(FOLD_KINDS, is_open=True)
        self._changed()

    def action_select_down(self) -> None:
        """Select the line at the cursor, then one more below."""
        self._reader.select_line(1)
        self._changed()

    def action_select_up(self) -> None:
        """Select the line at the cursor, then one more above."""
        self._reader.select_line(-1)
        self._changed()

    def action_copy(self) -> None:
        """Copy the selection, else what the cursor is on, else the block at the eye."""
        text = self.selected_text()
        if text:
            self.post_message(CopyRequested(text, "selection"))
            return
        found = self._reader.target()
        if found is not None:
            self._copy(*self._reader.text_of(found))

    def action_copy_block(self) -> None:
        """Copy the text of the block under the cursor, or at the eye."""
        found = self._reader.target()
        if found is not None:
            self._copy(*self._reader.block_text(found))

    def action_copy_code(self) -> None:
        """Copy the code block under the cursor, or the last one on the screen."""
        found = self._reader.code()
        if found is not None:
            self._copy(*self._reader.text_of(found))

    def _copy(self, text: str, what: str) -> None:
        if text:
            self.post_message(CopyRequested(text, what))

    @property
    def current_block_id(self) -> str | None:
        """The block the cursor is on, else the one at the eye; None when nothing is shown. What a
        reply, details and a cancel refer to."""
        found = self._reader.target()
        return None if found is None else found.place.block_id

    def selected_text(self) -> str:
        """The logical text of the mouse selection, "" when there is none."""
        selection = self._reader.selection
        return "" if selection is None else selection.text()

    def clear_selection(self) -> bool:
        """Drop the mouse selection; returns whether there was one (for Escape)."""
        had = bool(self.selected_text())
        self._reader.selection = None
        self._changed()
        return had
