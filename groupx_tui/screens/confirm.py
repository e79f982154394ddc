"""One question that is answered with Enter or Escape. Returns True on Enter."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog


class Confirm(Dialog[bool]):
    """Says what will happen before it does."""

    DEFAULT_CSS = """
    Confirm .confirm-text { height: auto; }
    """

    def __init__(self, keymap: KeyMap, title: str, text: str, verb: str) -> None:
        accept, close = keymap.shown("dialog.accept"), keymap.shown("dialog.close")
        super().__init__(keymap, title, f"{accept} {verb}   {close} leave it as it is")
        self._text = text

    def body(self) -> ComposeResult:
        yield Static(Content(self._text), classes="confirm-text")

    def accept(self) -> None:
        """Yes."""
        self.dismiss(True)
