"""The timeline widget: draws a room's blocks as lines, from its own offset.

STUB: the names below are the API to build against; drawing follows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from textual.app import RenderResult
from textual.reactive import reactive
from textual.widget import Widget

from groupx_tui.state.model import TimelineView
from groupx_tui.widgets.timeline import messages
from groupx_tui.widgets.timeline.messages import Position


def utc_now() -> datetime:
    """The wall clock, aware, UTC."""
    return datetime.now(UTC)


class Timeline(Widget, can_focus=True):
    """A room's messages and turns, drawn line by line; scrolls, folds, follows, selects, copies.

    The app calls `show` at most once a frame (see `pacing.FramePacer`) and binds keys to the
    `action_*` methods; the widget binds none itself. It handles the mouse: wheel, click on a
    header line (fold), on the badge (end), drag (selection), drag on the scrollbar.
    """

    PositionChanged = messages.PositionChanged
    NeedBefore = messages.NeedBefore
    NeedAfter = messages.NeedAfter
    NeedEnd = messages.NeedEnd
    BlockActivated = messages.BlockActivated
    CopyRequested = messages.CopyRequested
    SelectionMade = messages.SelectionMade

    position: reactive[Position] = reactive(Position(), repaint=False)
    """Which messages are on the screen."""
    is_following: reactive[bool] = reactive(True, repaint=False)
    """Whether the end stays in view as text comes."""
    new_count: reactive[int] = reactive(0, repaint=False)
    """Blocks that came below the window since the reader left the end."""

    def __init__(
        self,
        *,
        clock: Callable[[], datetime] = utc_now,
        tz: tzinfo | None = None,
        has_live_clock: bool = True,
        id: str | None = None,  # noqa: A002 - what every Textual widget calls it
        classes: str | None = None,
    ) -> None:
        """`clock` gives aware UTC time; `tz` is what times are shown in (None: the machine's);
        without `has_live_clock` the elapsed seconds of open turns do not tick by themselves."""
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._tz = tz
        self._has_live_clock = has_live_clock
        self._view: TimelineView | None = None

    def show(self, view: TimelineView) -> None:
        """Replace what is drawn; lays out only blocks that are other objects than before.

        The line under the reader's eye stays where it is, unless the timeline follows its end.
        Another `room_id` starts at the end, or where the reader had left that room.
        """
        self._view = view
        self.refresh()

    def render(self) -> RenderResult:
        return "" if self._view is None else f"{len(self._view.blocks)} blocks"

    def mark_unread(self, after_seq: int | None, since: datetime | None = None) -> None:
        """Draw “── new since HH:MM ──” before the first block of a later seq; None removes it."""

    def jump_to(self, block_id: str) -> bool:
        """Bring a block's first line to the top (a search hit, a permalink) and put the cursor on
        it; stops following. Returns False when the block is not loaded."""
        return False

    def scroll_lines(self, lines: int) -> None:
        """Scroll down by `lines` (negative: up). Leaves the end when up; scrolling on at the very
        end follows again."""

    def selected_text(self) -> str:
        """The logical text of the mouse selection, "" when there is none."""
        return ""

    def clear_selection(self) -> bool:
        """Drop the mouse selection; returns whether there was one (for Escape)."""
        return False

    def action_line_up(self) -> None:
        """Scroll one line up."""

    def action_line_down(self) -> None:
        """Scroll one line down."""

    def action_page_up(self) -> None:
        """Scroll a window up, less two lines."""

    def action_page_down(self) -> None:
        """Scroll a window down, less two lines."""

    def action_half_page_up(self) -> None:
        """Scroll half a window up."""

    def action_half_page_down(self) -> None:
        """Scroll half a window down."""

    def action_first(self) -> None:
        """Go to the first loaded line and ask for what is before it."""

    def action_end(self) -> None:
        """Go to the end and follow it."""

    def action_previous_message(self) -> None:
        """Bring the previous message of the reader to the top."""

    def action_next_message(self) -> None:
        """Bring the next message of the reader to the top, or go to the end."""

    def action_cursor_previous(self) -> None:
        """Put the cursor on the previous stop: a block, a fold, a code block."""

    def action_cursor_next(self) -> None:
        """Put the cursor on the next stop."""

    def action_toggle_block(self) -> None:
        """Fold or unfold what the cursor is on; without a cursor the block at the eye. On a
        block with nothing to fold: `BlockActivated`."""

    def action_toggle_reasoning(self) -> None:
        """Unfold all reasoning, or fold it again."""

    def action_toggle_tools(self) -> None:
        """Unfold all tool calls, or fold them again."""

    def action_fold_all(self) -> None:
        """Fold all reasoning, plans and tool calls."""

    def action_unfold_all(self) -> None:
        """Unfold all reasoning, plans and tool calls."""

    def action_copy(self) -> None:
        """Copy the selection, else what the cursor is on, else the block at the eye."""

    def action_copy_block(self) -> None:
        """Copy the text of the block under the cursor, or at the eye."""

    def action_copy_code(self) -> None:
        """Copy the code block under the cursor, or the last one on the screen."""
