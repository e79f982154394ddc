"""One of a few: the value between two arrows; left, right, space and a first letter change it.

Counterpart: the forms in `screens`, which read `key`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

LABEL_WIDTH: Final = 10
STEPS: Final = {"left": -1, "right": 1, "space": 1}


class Pick(Widget, can_focus=True):
    """A label and the chosen one of `options` (key and words)."""

    DEFAULT_CSS = """
    Pick { height: 1; width: 1fr; }
    Pick:focus { text-style: reverse; }
    """

    class Changed(Message):
        """Another one was chosen."""

        def __init__(self, pick: Pick) -> None:
            super().__init__()
            self.pick = pick

    def __init__(self, label: str, options: Sequence[tuple[str, str]], chosen: str = "") -> None:
        super().__init__()
        self._label = label
        self._options: Sequence[tuple[str, str]] = ()
        self._index = 0
        self.offer(options, chosen)

    @property
    def key(self) -> str:
        """The key of what is chosen."""
        return self._options[self._index][0]

    def offer(self, options: Sequence[tuple[str, str]], chosen: str = "") -> None:
        """Let these be chosen from; `chosen`, else the first, is."""
        self._options = options
        keys = [key for key, _ in options]
        self._index = keys.index(chosen) if chosen in keys else 0
        self.refresh()

    def render(self) -> Content:
        label = Content.styled(self._label.ljust(LABEL_WIDTH), "$muted")
        count = f"  {self._index + 1} of {len(self._options)}" if len(self._options) > 1 else ""
        value = f"‹ {self._options[self._index][1]} ›"
        return Content.assemble(label, value, Content.styled(count, "$muted"))

    def on_key(self, event: events.Key) -> None:
        """Choose the one before or after, or the next that begins with a letter."""
        if event.key in STEPS:
            event.stop()
            self._step(STEPS[event.key])
        elif event.is_printable and event.character:
            event.stop()
            self._seek(event.character.casefold())

    def _seek(self, letter: str) -> None:
        count = len(self._options)
        for step in range(1, count + 1):
            words = self._options[(self._index + step) % count][1]
            if words.casefold().startswith(letter):
                self._step(step)
                return

    def on_click(self) -> None:
        """Choose the one after."""
        self.focus()
        self._step(1)

    def _step(self, step: int) -> None:
        self._index = (self._index + step) % len(self._options)
        self.refresh()
        self.post_message(self.Changed(self))
