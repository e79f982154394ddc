"""The line that tells what is being looked up, and what is ready to be read. Never in the way.

Invariant: it stands for the latest thing asked for, and goes by itself. Counterpart:
`handlers.results`, which asks and shows.
"""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

READY_S: Final = 120.0
"""How long something is offered that nobody wanted to see at once."""


class WorkBar(Static):
    """Full width, one line above the composer; hidden while there is nothing to tell."""

    DEFAULT_CSS = """
    WorkBar {
        height: 1;
        width: 1fr;
        padding: 0 1;
        background: $panel;
        color: $text-muted;
        display: none;
        &.-ready { color: $text-accent; }
    }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.sentence = ""
        self.offered = ""
        """How what is ready is shown; empty: nothing is."""
        self._timer: Timer | None = None

    def works(self, title: str) -> None:
        """Something is being looked up."""
        self._say(f"⟳ {title} …")

    def ready(self, title: str, how: str) -> None:
        """It was found while the person did something else; `how` shows it."""
        self._say(f"✓ {title} is ready · {how} shows it", offered=how)
        self._timer = self.set_timer(READY_S, self.clear)

    def clear(self) -> None:
        """There is nothing to tell any more."""
        self._say("")

    def _say(self, sentence: str, *, offered: str = "") -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.sentence, self.offered = sentence, offered
        self.set_class(bool(offered), "-ready")
        self.update(Content(sentence))
        self.display = bool(sentence)
