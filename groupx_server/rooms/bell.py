"""A bell for those who wait for something that is no event: they look at the ledger again.

It carries nothing, so a ring that nobody hears loses nothing.
"""

from __future__ import annotations

import asyncio


class Bell:
    """Take `next` before looking, then wait for it."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def ring(self) -> None:
        """Wake all who wait."""
        rung, self._next = self._next, asyncio.Event()
        rung.set()

    @property
    def next(self) -> asyncio.Event:
        """Set at the next ring."""
        return self._next
