"""Choosing a key by pressing it: says what it would take from others before it is taken.

Returns the key. Every key is only a candidate here, so the keys of dialogs do not work but escape,
and enter once a key was pressed. Counterpart: `handlers.keys`.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingsMap
from textual.content import Content
from textual.widgets import Static

from groupx_tui.keymap import KeyMap, show_key
from groupx_tui.screens.dialog import Dialog

Judge = Callable[[str], tuple[bool, str]]
"""Whether a key can be used, and what to know about it."""


class PressKey(Dialog[str]):
    """Waits for a key."""

    DEFAULT_CSS = """
    PressKey .press-key { height: auto; }
    """

    def __init__(self, keymap: KeyMap, title: str, judge: Judge) -> None:
        super().__init__(keymap, title, "enter take it   esc close")
        self._bindings = BindingsMap()
        self._judge = judge
        self._key = ""
        self._can_be_used = False

    def body(self) -> ComposeResult:
        yield Static("Press the key.", classes="press-key", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Show the key, take it, or leave."""
        event.stop()
        if event.key == "escape":
            self.close()
        elif event.key == "enter" and self._key and self._can_be_used:
            self.dismiss(self._key)
        else:
            self._show(name_of_key(event))

    def _show(self, key: str) -> None:
        self._key = key
        self._can_be_used, words = self._judge(key)
        text = f"{show_key(key)}\n{words}\nenter takes it; another key takes its place."
        if not self._can_be_used:
            text = f"{show_key(key)}\n{words}\nPress another one."
        self.query_one(".press-key", Static).update(Content(text))


def name_of_key(event: events.Key) -> str:
    """As the table of keys writes it: `(`, `ctrl+g`, `pageup`."""
    character = event.character
    is_plain = "+" not in event.key  # with alt the character is told too
    if is_plain and event.is_printable and character is not None and character != " ":
        return character
    return event.key
