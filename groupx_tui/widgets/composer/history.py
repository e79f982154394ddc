"""What was sent before from one room's composer, and where in it a person looks. Pure.

Invariant: leaving the history returns exactly the text that was being written. Counterpart:
`client.history`, which keeps the entries across restarts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from groupx_tui.state.removal import without_text

MAX_ENTRIES: Final = 200


@dataclass(slots=True)
class InputHistory:
    """Sent texts, oldest first, and the place of the reader among them."""

    entries: list[str] = field(default_factory=list)
    keep: Callable[[str], object] = lambda text: None
    """Told each new entry."""
    _index: int | None = None
    _unsent: str = ""

    def add(self, text: str) -> None:
        """Note a sent (or cleared) text; the same one twice in a row is kept once."""
        self._index = None
        if text.strip() and (not self.entries or self.entries[-1] != text):
            self.entries.append(text)
            self.keep(text)
            del self.entries[:-MAX_ENTRIES]

    def forget(self, text: str) -> None:
        """Drop a text that was removed for good."""
        self.entries[:] = without_text(self.entries, text)
        self._index = None

    def previous(self, current: str) -> str | None:
        """The text before; None at the oldest. `current` is kept for the way back."""
        if self._index is None:
            index = len(self.entries) - 1
            self._unsent = current
        else:
            index = self._index - 1
        if index < 0:
            return None
        self._index = index
        return self.entries[index]

    def next(self) -> str | None:
        """The text after, and at last the unsent one; None when not in the history."""
        if self._index is None:
            return None
        if self._index + 1 < len(self.entries):
            self._index += 1
            return self.entries[self._index]
        self._index = None
        return self._unsent

    def leave(self) -> None:
        """The text was edited: it is a new one now."""
        self._index = None
