"""A text of several lines to write: who an agent is. Returns it, trimmed; it may be empty."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog
from groupx_tui.screens.remember import InEditor, LineEditor


class Write(Dialog[str]):
    """A box to write in, with a sentence on what it is for."""

    DEFAULT_CSS = """
    Write {
        LineEditor { height: auto; min-height: 4; max-height: 12; border: none; padding: 0;
                     background: $panel; margin-top: 1; }
        LineEditor:focus { border: none; }
        .write-about { height: auto; color: $muted; }
    }
    """

    def __init__(
        self, keymap: KeyMap, title: str, about: str, text: str, in_editor: InEditor
    ) -> None:
        keys = {name: keymap.shown(f"dialog.{name}") for name in ("accept", "editor", "close")}
        hint = f"{keys['accept']} done   ctrl+j new line   {keys['editor']} in your editor"
        super().__init__(keymap, title, f"{hint}   {keys['close']} close")
        self._about = about
        self._text = text
        self._in_editor = in_editor

    def body(self) -> ComposeResult:
        yield Static(Content(self._about), classes="write-about")
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
        """Return the text."""
        self.dismiss(self.query_one(LineEditor).text.strip())

    def offer(self, name: str) -> bool:
        """Open the text in the person's editor."""
        if name != "editor":
            return False
        self.run_worker(self._edit(), group="editor", exclusive=True)
        return True

    async def _edit(self) -> None:
        area = self.query_one(LineEditor)
        text = await self._in_editor(area.text)
        if text is not None:
            area.text = text
            area.move_cursor(area.document.end)
        area.focus()

    def move(self, lines: int) -> None:
        """One line up or down in the text."""
        area = self.query_one(LineEditor)
        if lines < 0:
            area.action_cursor_up()
        else:
            area.action_cursor_down()
