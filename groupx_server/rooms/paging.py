"""How many rows to read at once when nobody knows how long they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIRST_ROWS: Final = 64
MAX_ROWS: Final = 1_000
GROWTH: Final = 4


@dataclass(slots=True)
class PageSize:
    """Keeps pages near `target_bytes`: few long rows, or many short ones."""

    target_bytes: int
    rows: int = FIRST_ROWS
    """Rows to ask for next."""

    def learn(self, rows: int, size: int) -> None:
        """Take in that a page had `rows` rows of `size` bytes in all."""
        average = max(1, size // rows) if rows else 1
        self.rows = max(1, min(self.rows * GROWTH, self.target_bytes // average, MAX_ROWS))
