"""The server cannot be started: what happened, what to do, and a key to try again.

Full screen, calm, no dead end: Enter tries again, Escape shows the room without a server (what was
written stays a draft), and ctrl+c closes the window as everywhere.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from groupx_shared.text import safe_text
from groupx_tui.keymap import KeyMap
from groupx_tui.screens.dialog import Dialog

MAX_CHARS = 4000
ADVICE = "“groupx logs” shows the server's log; “groupx status” says what is running."


class Trouble(Dialog[bool]):
    """Returns True to try again."""

    DEFAULT_CSS = """
    Trouble {
        .dialog-box { width: 90; border: round $error; }
        .trouble-text { height: auto; max-height: 14; }
        .trouble-advice { height: auto; color: $muted; margin-top: 1; }
    }
    """

    def __init__(self, keymap: KeyMap, message: str) -> None:
        accept, close = keymap.shown("dialog.accept"), keymap.shown("dialog.close")
        hint = f"{accept} try again   {close} look around without a server"
        super().__init__(keymap, "The server cannot be started", hint)
        self.message = safe_text(message[:MAX_CHARS])

    def body(self) -> ComposeResult:
        yield Static(Content(self.message), classes="trouble-text")
        yield Static(Content(ADVICE), classes="trouble-advice")

    def accept(self) -> None:
        """Try again."""
        self.dismiss(True)

    def copy_text(self) -> tuple[str, str] | None:
        """The message."""
        return self.message, "the message"
