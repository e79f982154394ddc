"""A text of several lines to write or correct: what is remembered. Returns the text, trimmed."""

from __future__ import annotations

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.widgets import TextArea

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog

NEW_LINE: Final = ("ctrl+j", "alt+enter", "shift+enter")


class LineEditor(TextArea):
    """Enter belongs to the dialog; ctrl+j begins a new line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # not a new line: it goes on to the dialog
        elif event.key in NEW_LINE:
            event.prevent_default()
            event.stop()
            self.insert("\n")


class Write(Dialog[str]):
    """A box to write in."""

    DEFAULT_CSS = """
    Write {
        TextArea { height: auto; min-height: 3; max-height: 14; border: none; padding: 0;
                   background: $panel; }
        TextArea:focus { border: none; }
    }
    """

    def __init__(self, keymap: KeyMap, title: str, text: str = "") -> None:
        keys = (keymap.shown("dialog.accept"), keymap.shown("dialog.close"))
        super().__init__(keymap, title, f"{keys[0]} done   ctrl+j new line   {keys[1]} close")
        self._text = text

    def body(self) -> ComposeResult:
        area = LineEditor(self._text, soft_wrap=True, tab_behavior="focus")
        area.show_line_numbers = False
        area.highlight_cursor_line = False
        area.cursor_blink = False
        yield area

    def on_mount(self) -> None:
        """Write at the end."""
        area = self.query_one(LineEditor)
        area.move_cursor(area.document.end)
        area.focus()

    def accept(self) -> None:
        """Return the text, when there is something in it."""
        text = self.query_one(LineEditor).text.strip()
        if text:
            self.dismiss(text)

    def move(self, lines: int) -> None:
        """One line up or down in the text."""
        area = self.query_one(LineEditor)
        if lines < 0:
            area.action_cursor_up()
        else:
            area.action_cursor_down()
