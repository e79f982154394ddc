"""A text to read in a dialog: help and turn details. Scrolls with the list keys."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog


class Reader(Dialog[None]):
    """Shows lines; `copies` is what `dialog.copy` copies and how a toast calls it."""

    DEFAULT_CSS = """
    Reader {
        VerticalScroll {
            height: auto;
            max-height: 100%;
            scrollbar-size-vertical: 1;
            background: transparent;
        }
        .dialog-box { max-height: 95%; }
        .dialog-title { padding-bottom: 0; }
        .reader-text { height: auto; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        title: str,
        lines: Sequence[Content],
        copies: tuple[str, str] | None = None,
    ) -> None:
        copy = f"   {keymap.shown('dialog.copy')} copy {copies[1]}" if copies else ""
        super().__init__(keymap, title, f"↑ ↓ scroll   {keymap.shown('dialog.close')} close{copy}")
        self._lines = lines
        self._copies = copies

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(Content("\n").join(self._lines), classes="reader-text")

    def move(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def page(self, pages: int) -> None:
        """Scroll by pages."""
        view = self.query_one(VerticalScroll)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)

    def copy_text(self) -> tuple[str, str] | None:
        """What can be copied from here."""
        return self._copies
