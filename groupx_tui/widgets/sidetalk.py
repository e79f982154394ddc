"""The side conversation as lines: who said what, what was done, what goes on now.

A message that has ended is laid out once for each width and theme; of the answer under way only
its open end is laid out anew. Answers are markdown, as in the timeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from groupx_shared.text import safe_line, safe_text
from groupx_shared.wire.assistant import SideMessage
from groupx_tui.render.markdown.scanner import BlockScanner
from groupx_tui.render.palette import PLAIN, Palette, Role
from groupx_tui.render.row import Piece, Row
from groupx_tui.render.writer import Writer
from groupx_tui.state.side import SideView
from groupx_tui.state.streamtext import StreamText
from groupx_tui.widgets.timeline import theme
from groupx_tui.widgets.timeline.contents import AnswerParts
from groupx_tui.widgets.timeline.flow import Flow
from groupx_tui.widgets.timeline.words import moment

INDENT = "  "
MIN_WIDTH = 16
EMPTY = (
    "Ask for anything that you could do here by command: “What goes on?”, “Let codex review the "
    "last change and tell me”, “Stop everything”. What is said here is in no room."
)
ENDINGS = {"failed": "failed", "cancelled": "stopped", "interrupted": "interrupted"}
Words = tuple[tuple[str, Role | None], ...]


class SideLines(Widget, can_focus=False):
    """All lines, as high as they are."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(theme.COMPONENTS)
    DEFAULT_CSS = f"""
    SideLines {{ height: auto; width: 1fr; background: $surface; {theme.RULES} }}
    """

    def __init__(self) -> None:
        super().__init__()
        self._view = SideView()
        self._palette = PLAIN
        self._laid: dict[tuple[SideMessage, int], list[Row]] = {}
        self._live_id = ""
        self._live = _answer_flow()
        self._rows: tuple[int, list[Row]] | None = None

    def show(self, view: SideView) -> None:
        """Draw a newer view."""
        self._view = view
        self._rows = None
        self.refresh(layout=True)

    def notify_style_update(self) -> None:
        """The theme, or a style, changed."""
        super().notify_style_update()
        self.call_later(self._take_palette)

    def _take_palette(self) -> None:
        palette = theme.palette_of(self)
        if not palette.is_like(self._palette):
            self._palette = palette
            self._laid.clear()
            self._rows = None
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Height of all lines."""
        return len(self.rows(width))

    def render_line(self, y: int) -> Strip:
        """One line, as wide as the widget."""
        width, base = self.content_size.width, self._palette.base
        rows = self.rows(width)
        if y >= len(rows):
            return Strip.blank(width, base)
        return rows[y].strip.adjust_cell_length(width, rows[y].fill or base)

    def rows(self, width: int) -> list[Row]:
        """All rows at this width."""
        width = max(MIN_WIDTH, width)
        if self._rows is None or self._rows[0] != width:
            self._rows = width, list(self._all_rows(width))
        return self._rows[1]

    def _all_rows(self, width: int) -> Iterable[Row]:
        view = self._view
        if view.older_before:
            yield from self._words(width, "Older messages: page up.", Role.DIM)
            yield from self._words(width, "", Role.DIM)
        for message in view.messages:
            yield from self._message(message, width)
            if message.message_id == view.live_id:
                yield from self._live_rows(width)
        if not view.messages:
            yield from self._words(width, _opening(view), Role.DIM)
        if view.trouble:
            yield from self._words(width, view.trouble, Role.WARNING)

    def _words(self, width: int, text: str, role: Role) -> list[Row]:
        writer = Writer(width, self._palette)
        writer.write([(text, self._palette.style(role))])
        return writer.layout().rows

    def _message(self, message: SideMessage, width: int) -> list[Row]:
        key = message, width
        if key not in self._laid:
            if len(self._laid) > 2 * len(self._view.messages) + 8:
                self._laid.clear()
            self._laid[key] = message_rows(message, width, self._palette)
        return self._laid[key]

    def _live_rows(self, width: int) -> Iterable[Row]:
        """The answer under way, and what is done now."""
        view = self._view
        if view.live_id != self._live_id:
            self._live_id, self._live = view.live_id, _answer_flow()
        writer = Writer(width, self._palette)
        _write(writer, (("Assistant", Role.AGENT),))
        yield from writer.layout().rows
        self._live.update(StreamText(safe_text(view.live_text)), is_whole=False)
        yield from _flow_rows(self._live, width, self._palette)
        writer = Writer(width, self._palette)
        if view.progress or not view.live_text:
            _write(writer, ((f"{INDENT}{safe_line(view.progress) or '…'}", Role.DIM),))
        writer.gap()
        yield from writer.layout().rows


def message_rows(message: SideMessage, width: int, palette: Palette) -> list[Row]:
    """One message: its head, its text, what was done for it, how it ended."""
    is_user = message.role == "user"
    writer = Writer(width, palette)
    head = ("You", Role.USER) if is_user else ("Assistant", Role.AGENT)
    _write(writer, (head, (f" {moment(message.created_at)}", Role.DIM)))
    text = safe_text(message.content).strip("\n")
    rows = writer.layout().rows
    if is_user:
        writer = Writer(width, palette)
        with writer.prefix((INDENT, palette.base)):
            writer.write([(text, palette.base)])
        rows += writer.layout().rows
    else:
        flow = _answer_flow()
        flow.update(StreamText(text), is_whole=True)
        rows += _flow_rows(flow, width, palette)
    return rows + _end_rows(message, width, palette)


def _end_rows(message: SideMessage, width: int, palette: Palette) -> list[Row]:
    writer = Writer(width, palette)
    with writer.prefix((INDENT, palette.base)):
        for act in message.acts:
            _write(writer, ((f"· {safe_line(act.summary)}", Role.HINT),))
        if message.status in ENDINGS:
            why = f": {safe_line(message.error_message)}" if message.error_message else "."
            role = Role.DIM if message.status == "cancelled" else Role.ERROR
            _write(writer, ((f"{ENDINGS[message.status]}{why}", role),))
        if message.status == "queued":
            _write(writer, (("waits", Role.DIM),))
        if message.cut:
            _write(writer, (("… cut here: it was too long to be kept whole", Role.DIM),))
    writer.gap()
    return writer.layout().rows


def _answer_flow() -> Flow:
    return Flow(BlockScanner, AnswerParts("side"))


def _flow_rows(flow: Flow, width: int, palette: Palette) -> list[Row]:
    """The answer's rows, set in from the edge."""
    inner = width - len(INDENT)
    return [
        _indented(row, palette) for part in flow.parts for row in part.layout(inner, palette).rows
    ]


def _indented(row: Row, palette: Palette) -> Row:
    strip = Strip([Segment(INDENT, palette.base), *row.strip])
    return Row(strip, row.text, row.start + len(INDENT), row.joiner, row.at, row.fill)


def _write(writer: Writer, words: Words) -> None:
    palette = writer.palette
    pieces: list[Piece] = [
        (text, palette.base if role is None else palette.style(role)) for text, role in words
    ]
    writer.write(pieces)


def _opening(view: SideView) -> str:
    status = view.status
    if status is not None and not status.enabled:
        return status.detail or EMPTY
    return EMPTY
