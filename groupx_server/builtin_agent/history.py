"""What a session remembers for the model: past exchanges, bounded by characters.

Only whole exchanges are dropped, the oldest first; a failed turn stays with a note, since its
packet held news of the room that no later packet repeats.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Exchange:
    """One prompt and what came of it."""

    user: str
    assistant: str

    @property
    def chars(self) -> int:
        return len(self.user) + len(self.assistant)


class History:
    """Past exchanges, oldest first, never more than `max_chars` characters."""

    def __init__(self, max_chars: int) -> None:
        self.max_chars = max_chars
        self.chars = 0
        self._exchanges: deque[Exchange] = deque()

    def __len__(self) -> int:
        return len(self._exchanges)

    def add(self, user: str, assistant: str) -> None:
        """Remember an exchange and drop old ones over the limit."""
        exchange = Exchange(user, assistant)
        self._exchanges.append(exchange)
        self.chars += exchange.chars
        while self.chars > self.max_chars:
            self.chars -= self._exchanges.popleft().chars

    def clear(self) -> None:
        """Forget everything (the model's window is too small for it)."""
        self._exchanges.clear()
        self.chars = 0

    def messages(self) -> list[dict[str, Any]]:
        """Return the exchanges as chat messages, user and assistant in turn."""
        return [
            message
            for exchange in self._exchanges
            for message in (
                {"role": "user", "content": exchange.user},
                {"role": "assistant", "content": exchange.assistant},
            )
        ]
