"""One setting to change: what it means, what can stand there, and at once what is wrong.

Returns the line that was typed; empty takes the default. Counterpart: `handlers.limits`.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from groupx_tui.keymap import KeyMap
from groupx_tui.screens.ask import Ask

Check = Callable[[str], str]
"""What is wrong with a value; empty when nothing is."""


class AskSetting(Ask):
    """A value, checked as it is typed."""

    DEFAULT_CSS = """
    AskSetting .setting-about { height: auto; color: $muted; margin-bottom: 1; }
    """

    def __init__(self, keymap: KeyMap, title: str, value: str, about: str, check: Check) -> None:
        super().__init__(keymap, title, value, "empty: the default", empty="")
        self._about = about
        self._check = check

    def body(self) -> ComposeResult:
        yield Static(Content(self._about), classes="setting-about")
        yield from super().body()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what is wrong while it is."""
        event.stop()
        self._show_trouble(event.value.strip())

    def accept(self) -> None:
        """Return the value, when it can be set."""
        value = self.query_one(Input).value.strip()
        if not self._show_trouble(value):
            self.dismiss(value)

    def _show_trouble(self, value: str) -> str:
        trouble = self._check(value) if value else ""
        line = self.query_one(".ask-trouble", Static)
        line.display = bool(trouble)
        line.update(Content(trouble))
        return trouble
