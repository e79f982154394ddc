"""One question with one line of answer: the title of a room, what to look for."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog

MAX_TITLE = 64
"""Longest title that the server takes, in characters."""


class Ask(Dialog[str]):
    """Returns the line that was typed, trimmed."""

    DEFAULT_CSS = """
    Ask {
        Input { height: 1; border: none; padding: 0; background: $panel; }
        Input:focus { border: none; background-tint: $foreground 0%; }
        .input--placeholder, .input--suggestion { color: $muted; }
        .ask-trouble { height: auto; color: $text-warning; display: none; }
    }
    """

    def __init__(
        self,
        keymap: KeyMap,
        title: str,
        value: str = "",
        placeholder: str = "",
        *,
        max_length: int = MAX_TITLE,
        empty: str = "A title has at least one letter.",
    ) -> None:
        """`empty`: what to say when nothing was typed; "": then nothing is an answer too."""
        accept, close = keymap.shown("dialog.accept"), keymap.shown("dialog.close")
        super().__init__(keymap, title, f"{accept} done   {close} close")
        self._value = value
        self._placeholder = placeholder
        self._max_length = max_length
        self._empty = empty

    def body(self) -> ComposeResult:
        line = Input(
            self._value,
            placeholder=self._placeholder,
            max_length=self._max_length,
            compact=True,
            select_on_focus=False,
        )
        line.cursor_blink = False
        yield line
        yield Static(classes="ask-trouble", markup=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.accept()

    def accept(self) -> None:
        """Return the line, when there is something in it."""
        value = self.query_one(Input).value.strip()
        if value or not self._empty:
            self.dismiss(value)
            return
        trouble = self.query_one(".ask-trouble", Static)
        trouble.display = True
        trouble.update(Content(self._empty))
