"""Large pastes, shown as a chip like “[pasted 1,234 lines]” and sent whole. Pure.

Invariant: a chip stands for exactly one text as long as the window lives, and `expand` puts every
one of them back; nothing that a person types is taken for a chip. Counterpart: `editor`, in which
a chip is one thing: the caret is never inside it and an edit takes all of it or nothing.
"""

from __future__ import annotations

import re
from typing import Final

FOLD_LINES: Final = 20
"""A paste of more lines than this becomes a chip: it would fill the composer and more."""
FOLD_CHARS: Final = 4_000
MAX_KEPT_CHARS: Final = 32_000_000
"""All pastes of a window together; what comes after that is inserted as it is."""
_CHIP: Final = re.compile(r"\[pasted [0-9,]+ (?:lines|characters)(?: #\d+)?\]")
MAX_CHIP_CHARS: Final = 64
"""No chip is longer: it is looked for only so far from where an edit is."""


class PasteShelf:
    """The pasted texts of one window by their chips."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._kept_chars = 0

    @property
    def is_empty(self) -> bool:
        """True while nothing was folded."""
        return not self._texts

    def fold_paste(self, text: str) -> str:
        """Return what to insert for a pasted text: a chip when it is large, else the text."""
        is_large = text.count("\n") >= FOLD_LINES or len(text) > FOLD_CHARS
        if not is_large or self._kept_chars + len(text) > MAX_KEPT_CHARS:
            return text
        chip = self._chip_for(text)
        if chip not in self._texts:
            self._texts[chip] = text
            self._kept_chars += len(text)
        return chip

    def expand(self, shown: str) -> str:
        """Return the whole text that `shown`, with its chips, stands for."""
        if not self._texts:
            return shown
        return _CHIP.sub(lambda chip: self._texts.get(chip[0], chip[0]), shown)

    def fold_known(self, whole: str) -> str:
        """Return a whole text with the pastes in it that are known as chips again."""
        for chip, text in self._texts.items():
            whole = whole.replace(text, chip)
        return whole

    def chips_in(self, shown: str) -> list[tuple[int, int]]:
        """Return where chips stand in a text: from, to."""
        if not self._texts:
            return []
        return [found.span() for found in _CHIP.finditer(shown) if found[0] in self._texts]

    def chip_around(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the chip that has `column` strictly inside."""
        return self._near(line, column, 1)

    def chip_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the chip that a caret at `column` touches."""
        return self._near(line, column, 0)

    def text_of(self, chip: str) -> str:
        """Return what a chip stands for; empty for an unknown one."""
        return self._texts.get(chip, "")

    def _near(self, line: str, column: int, depth: int) -> tuple[int, int] | None:
        """The chip in which `column` lies at least `depth` characters deep."""
        first = max(0, column - MAX_CHIP_CHARS)
        for start, end in self.chips_in(line[first : column + MAX_CHIP_CHARS]):
            if first + start + depth <= column <= first + end - depth:
                return first + start, first + end
        return None

    def _chip_for(self, text: str) -> str:
        """The chip of a text; a number tells apart those that would read the same."""
        lines = text.count("\n") + (not text.endswith("\n"))
        about = f"{lines:,} lines" if lines > FOLD_LINES else f"{len(text):,} characters"
        chip, number = f"[pasted {about}]", 1
        while self._texts.get(chip, text) != text:
            number += 1
            chip = f"[pasted {about} #{number}]"
        return chip
