"""Moving through the timeline: lines, pages, parts, and jumps that may load another page."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from groupx_shared.text import safe_line
from groupx_tui.moments import FORMS, moment_of
from groupx_tui.state.model import BlockId, TurnBlock
from groupx_tui.widgets.timeline.widget import Timeline

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class TimelineHandlers:
    """`timeline.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    @property
    def _timeline(self) -> Timeline:
        return self._app.room.timeline

    def line_up(self, argument: str) -> None:
        """Scroll a line up."""
        self._timeline.action_line_up()

    def line_down(self, argument: str) -> None:
        """Scroll a line down."""
        self._timeline.action_line_down()

    def page_up(self, argument: str) -> None:
        """Scroll a page up."""
        self._timeline.action_page_up()

    def page_down(self, argument: str) -> None:
        """Scroll a page down."""
        self._timeline.action_page_down()

    def half_page_up(self, argument: str) -> None:
        """Scroll half a page up."""
        self._timeline.action_half_page_up()

    def half_page_down(self, argument: str) -> None:
        """Scroll half a page down."""
        self._timeline.action_half_page_down()

    def previous(self, argument: str) -> None:
        """Mark the part before."""
        self._timeline.action_cursor_previous()

    def next(self, argument: str) -> None:
        """Mark the part after."""
        self._timeline.action_cursor_next()

    def previous_own(self, argument: str) -> None:
        """My message before."""
        self._timeline.action_previous_message()

    def next_own(self, argument: str) -> None:
        """My message after."""
        self._timeline.action_next_message()

    def select_down(self, argument: str) -> None:
        """Select a line more, downwards."""
        self._timeline.action_select_down()

    def select_up(self, argument: str) -> None:
        """Select a line more, upwards."""
        self._timeline.action_select_up()

    def previous_failed(self, argument: str) -> None:
        """The turn before that ended without an answer."""
        self._to_failed(-1)

    def next_failed(self, argument: str) -> None:
        """The turn after that ended without an answer."""
        self._to_failed(1)

    def _to_failed(self, step: int) -> None:
        blocks = self._app.view.timeline.blocks
        ids = [block.block_id for block in blocks]
        marked = self._timeline.current_block_id
        here = ids.index(marked) if marked in ids else (len(ids) if step < 0 else -1)
        beside = blocks[:here][::-1] if step < 0 else blocks[here + 1 :]
        for block in beside:
            if isinstance(block, TurnBlock) and block.can_retry:
                self._timeline.jump_to(block.block_id)
                return
        self._app.tell("No turn without an answer there, as far as is loaded.")

    def toggle(self, argument: str) -> None:
        """Open or close what is marked."""
        self._timeline.action_toggle_block()

    def toggle_reasoning(self, argument: str) -> None:
        """Open or close all reasoning."""
        self._timeline.action_toggle_reasoning()

    def toggle_tools(self, argument: str) -> None:
        """Open or close all tool calls."""
        self._timeline.action_toggle_tools()

    def toggle_time(self, argument: str) -> None:
        """How long ago, or when."""
        self._timeline.action_toggle_time()

    def fold_all(self, argument: str) -> None:
        """Close everything."""
        self._timeline.action_fold_all()

    def unfold_all(self, argument: str) -> None:
        """Open everything."""
        self._timeline.action_unfold_all()

    def back(self, argument: str) -> None:
        """Drop the selection, else end the search, else write."""
        if not self._timeline.clear_selection() and not self._app.handlers.searching.close():
            self._app.room.composer.editor.focus()

    def first(self, argument: str) -> None:
        """The first message of the room."""
        if self._app.view.timeline.has_more_before:
            self._jump("first")
        else:
            self._timeline.action_first()

    def last(self, argument: str) -> None:
        """The end of the room, followed."""
        self._timeline.action_end()

    home = first
    end = last

    def jump(self, argument: str) -> None:
        """`first`, `last`, the number of an event, or a day or time."""
        where = argument.lower().lstrip("#").replace(",", "")
        if where in ("last", "end", ""):
            self.last("")
        elif where in ("first", "start"):
            self.first("")
        elif where.isdecimal():
            self._jump(int(where))
        elif (at := moment_of(argument, datetime.now().astimezone())) is not None:
            self._app.attempt(self._app.session.jump_to_time(at), self._arrived)
        else:
            shown = safe_line(argument, 40)
            self._app.tell(f"“{shown}” is no place. {FORMS}", "warning")

    def _jump(self, where: int | Literal["first", "last"]) -> None:
        self._app.attempt(self._app.session.jump(where), self._arrived)

    def _arrived(self, block_id: BlockId | None) -> None:
        self._app.draw_view()
        if block_id is None or not self._timeline.jump_to(block_id):
            self._app.tell("There is nothing there.")
