"""The timeline widget: draws a room's blocks as lines, from its own offset.

Owns the screen lines and the mouse; what is read lives in `reader.py`. Invariant: a frame costs
the rows in the window and the open end of an answer, never the room; only lines that differ from
the last frame are sent to the terminal; no timer runs while nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import ClassVar, Literal

from textual import events
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from groupx_shared.english import counted
from groupx_tui.render.palette import PLAIN
from groupx_tui.state.model import TimelineView, TurnBlock
from groupx_tui.widgets.timeline import messages, theme
from groupx_tui.widgets.timeline.actions import TimelineActions
from groupx_tui.widgets.timeline.cursor import StopPlace
from groupx_tui.widgets.timeline.document import Scene
from groupx_tui.widgets.timeline.hints import NO_KEYS, KeyHints
from groupx_tui.widgets.timeline.messages import Position
from groupx_tui.widgets.timeline.mouse import WHEEL_LINES, Mouse
from groupx_tui.widgets.timeline.painter import SCROLLBAR, Painter, text_width
from groupx_tui.widgets.timeline.reader import Reader
from groupx_tui.widgets.timeline.screenlines import ScreenLines


def utc_now() -> datetime:
    """The wall clock, aware, UTC."""
    return datetime.now(UTC)


class Timeline(TimelineActions, can_focus=True):
    """A room's messages and turns, drawn line by line; scrolls, folds, follows, selects, copies.

    The app calls `show` at most once a frame (see `pacing.FramePacer`) and binds keys to the
    `action_*` methods; the widget binds none itself. It handles the mouse: wheel, click on a
    header line (fold), on the badge (end), drag (selection), drag on the scrollbar.
    """

    ALLOW_SELECT = False  # Textual's selection knows widgets, not logical text
    COMPONENT_CLASSES: ClassVar[set[str]] = set(theme.COMPONENTS)
    DEFAULT_CSS = theme.CSS

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
        keys: KeyHints = NO_KEYS,
        is_part: bool = False,
        id: str | None = None,  # noqa: A002 - what every Textual widget calls it
        classes: str | None = None,
    ) -> None:
        """`clock` gives aware UTC time; `tz` is what times are shown in (None: the machine's);
        without `has_live_clock` the elapsed seconds of open turns do not tick by themselves; `keys`
        is how the hints call the keys; `is_part`: its first block is not the start of a room."""
        super().__init__(id=id, classes=classes)
        self._clock = clock
        self._tz = tz
        self._has_live_clock = has_live_clock
        scene = Scene(tz=tz, keys=keys)
        scene.start = "" if is_part else scene.start
        self._reader = Reader(scene, self._say_time)
        self._lines = ScreenLines()
        self._mouse = Mouse(self._reader)
        self._painter = Painter(0, PLAIN)
        self._ticker: Timer | None = None
        self._minutes: Timer | None = None
        self._asked_before: tuple[str, int] | None = None
        self._asked_after: tuple[str, int] | None = None
        self._told: tuple[Position, bool, int, str] | None = None

    # What comes in.

    def show(self, view: TimelineView, *, is_live: bool = True) -> None:
        """Replace what is drawn; lays out only blocks that are other objects than before.

        The line under the reader's eye stays where it is, unless the timeline follows its end.
        Another `room_id` starts at the end, or where the reader had left that room. Without a
        connection (`is_live`) the clocks of open turns stand: nobody knows how they go on.
        """
        self._reader.scene.is_live = is_live
        self._reader.scene.now = self._now()
        self._reader.show(view)
        self._changed()

    def hint_when_empty(self, *lines: str) -> None:
        """More of what is said in a room without messages."""
        self._reader.scene.empty_hints = lines

    def mark_unread(self, after_seq: int | None, since: datetime | None = None) -> None:
        """Draw “── new since HH:MM ──” before the first block of a later seq; None removes it."""
        at = self._say_time() if since is None else f"{since.astimezone(self._tz):%H:%M}"
        self._reader.mark_unread(after_seq, at)
        self._changed()

    def jump_to(self, block_id: str) -> bool:
        """Bring a block's first line near the top (a search hit, a permalink) and put the cursor
        on it; stops following. Returns False when the block is not loaded."""
        if not self._reader.bring(block_id):
            return False
        self._reader.cursor.place = StopPlace(block_id, "head", 0)
        self._changed()
        return True

    def look_for(self, wanted: re.Pattern[str] | None) -> None:
        """Mark what the pattern finds, wherever it comes into view; None: nothing any more."""
        self._reader.wanted = wanted
        self._changed()

    def show_hit(self, block_id: str) -> bool:
        """As `jump_to`, with the first place of what is looked for in view."""
        if not self._reader.bring_hit(block_id):
            return False
        self._reader.cursor.place = StopPlace(block_id, "head", 0)
        self._changed()
        return True

    @property
    def seq_at_eye(self) -> int | None:
        """The newest event that is on the screen; None while the end is followed."""
        return self._reader.seq_at_eye()

    def _now(self) -> datetime:
        return self._clock().replace(microsecond=0)

    def _say_time(self) -> str:
        return f"{self._clock().astimezone(self._tz):%H:%M}"

    # Drawing.

    def on_mount(self) -> None:
        """Make the clock of open turns; it stands while none is on the screen."""
        self._ticker = self.set_interval(1, self._tick, pause=True)
        self._minutes = self.set_interval(MINUTE_S, self._tick_minutes, pause=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size."""
        self._resized()

    def notify_style_update(self) -> None:
        """The theme, or a style, changed."""
        super().notify_style_update()
        if self._painter.width:
            # The component classes follow after this call: here their styles are the old ones.
            self.call_later(self._resized)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Show the cursor while keys go to the timeline."""
        super().watch_has_focus(_has_focus)
        self._changed()

    def _resized(self) -> None:
        width, height = self.size
        palette = theme.palette_of(self)
        if not palette.is_like(self._painter.palette):
            self._reader.scene.palette = palette
        elif width == self._painter.width and height == self._reader.viewport.height:
            return
        self._painter = Painter(width, self._reader.scene.palette)
        self._reader.resize(text_width(width), height)
        self._changed()

    def _toggle_time(self) -> None:
        is_on = self._reader.scene.ago is None
        self._reader.scene.ago = self._minute() if is_on else None
        if self._minutes is not None:
            (self._minutes.resume if is_on else self._minutes.pause)()
        self._reader.redraw()
        self._changed()

    def _minute(self) -> datetime:
        return self._clock().replace(second=0, microsecond=0)

    def _tick_minutes(self) -> None:
        self._reader.scene.ago = self._minute()
        self._reader.redraw()
        self._draw()

    def _tick(self) -> None:
        self._reader.scene.now = self._now()
        self._reader.redraw()
        self._draw()

    def _changed(self) -> None:
        """Draw what differs and tell the app what it should know."""
        self._draw()
        self._tell()

    def _draw(self) -> None:
        if not self._painter.width or not self.is_mounted:
            return
        height = self._reader.viewport.height
        changed = self._lines.compose(
            self._reader, self._painter, height, has_cursor=self.has_focus, badge=self._badge()
        )
        for first, count in changed:
            self.refresh(Region(0, first, self._painter.width, count))
        self._run_clock()

    def _run_clock(self) -> None:
        if self._ticker is None or not self._has_live_clock:
            return
        blocks = self._reader.document.blocks
        seen = {ref.block for ref in self._reader.viewport.rows}
        turns = [block for index in seen if isinstance(block := blocks[index], TurnBlock)]
        is_live = self._reader.scene.is_live
        if is_live and any(turn.is_open and turn.phase != "queued" for turn in turns):
            self._ticker.resume()
        else:
            self._ticker.pause()

    def _badge(self) -> str:
        """Return the text of the badge: what is new below, or the way back to the end."""
        if self._reader.viewport.is_following:
            return ""
        blocks, lines = self._reader.new_below()
        if blocks:
            return f" {blocks:,} new ↓ "
        return f" {counted(lines, 'new line')} ↓ " if lines else " end ↓ "

    def render_line(self, y: int) -> Strip:
        """Return one line of the last frame."""
        strips = self._lines.strips
        return strips[y] if y < len(strips) else self._painter.blank(has_thumb=False)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return lines of the last frame as they are: they are whole, so Textual's own cache,
        which copies each line that it did not make itself, is passed by."""
        if self.styles.gutter or self.opacity < 1:
            return super().render_lines(crop)
        strips = [self.render_line(y) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.column_span != (0, self._painter.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    # What the app is told.

    def _tell(self) -> None:
        reader = self._reader
        following = reader.viewport.is_following
        told = (reader.position(), following, reader.new_below()[0], self._side())
        if told != self._told:
            self._told = told
            self.position, self.is_following, self.new_count = told[:3]
            self.post_message(messages.PositionChanged(*told))
        self._ask()

    def _ask_again(self) -> None:
        self._asked_before = self._asked_after = None

    def _side(self) -> Literal["start", "end"]:
        """Return which half of the loaded blocks is on the screen."""
        rows, count = self._reader.viewport.rows, len(self._reader.document.blocks)
        if self._reader.viewport.is_following or not rows:
            return "end"
        return "start" if rows[0].block + rows[-1].block < count else "end"

    def _ask(self) -> None:
        """Ask for pages near the edges of what is loaded, once each."""
        reader, view = self._reader, self._reader.view
        rows, height = reader.viewport.rows, reader.viewport.height
        if not rows or not height:
            return
        heights = reader.document.heights
        before, after = (view.room_id, view.first_seq), (view.room_id, view.last_seq)
        is_near_top = sum(heights[: rows[0].block]) < NEAR_WINDOWS * height
        if view.has_more_before and is_near_top and before != self._asked_before:
            self._asked_before = before
            self.post_message(messages.NeedBefore(*before))
        is_near_end = sum(heights[rows[-1].block + 1 :]) < NEAR_WINDOWS * height
        is_reading = not reader.viewport.is_following
        if view.has_more_after and is_near_end and is_reading and after != self._asked_after:
            self._asked_after = after
            self.post_message(messages.NeedAfter(*after))

    # The mouse.

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.scroll_lines(-self._wheel_lines(event))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.scroll_lines(self._wheel_lines(event))

    def _wheel_lines(self, event: events.MouseEvent) -> int:
        """Return how far a notch goes: a few lines, with ctrl or shift half a window."""
        is_fast = event.ctrl or event.shift
        return max(WHEEL_LINES, self._reader.viewport.height // 2) if is_fast else WHEEL_LINES

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a click or a drag."""
        if event.button != 1:
            return
        event.stop()
        height = self._reader.viewport.height
        is_on_bar = event.x >= self._painter.width - SCROLLBAR
        is_on_badge = event.y == height - 1 and 0 <= self._lines.badge_from <= event.x
        if is_on_badge and not is_on_bar:
            self.action_end()
            return
        self.capture_mouse()
        self._mouse.press(event.x, event.y, is_on_bar=is_on_bar, height=height)
        self._changed()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Go on with a drag."""
        if self._mouse.move(event.x, event.y, self._reader.viewport.height):
            event.stop()
            self._changed()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """End a click or a drag."""
        if not self._mouse.is_down:
            return
        self.release_mouse()
        found = self._mouse.release(event.y)
        if found is not None:
            self._reader.cursor.place = found.place
            self._toggle(found)
        text = self.selected_text()
        if text:
            self.post_message(messages.SelectionMade(text))


MINUTE_S = 60
NEAR_WINDOWS = 2
"""Pages are asked for when the edge of what is loaded is this many windows away."""
