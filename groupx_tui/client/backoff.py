"""Pauses between tries to connect: doubling, bounded, with jitter, and cut short on demand.

The jitter keeps several clients of one server that was restarted from coming back in step.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Final

FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 3.0
"""The server is on this machine: a try costs nothing, and somebody waits in front of it."""
JITTER: Final = 0.2
"""A pause is this part longer or shorter, at random."""


class Backoff:
    """Counts failures; `next_pause` gives seconds."""

    def __init__(self, draw: Callable[[], float] = random.random) -> None:
        self._draw = draw
        self._failures = 0

    def next_pause(self) -> float:
        """Return how long to wait after one more failure, in seconds."""
        doublings = min(self._failures, 16)  # 2**16 is far above the bound already
        self._failures += 1
        pause = min(FIRST_PAUSE_S * 2.0**doublings, LONGEST_PAUSE_S)
        return min(pause * (1 + JITTER * (2 * self._draw() - 1)), LONGEST_PAUSE_S)

    def reset(self) -> None:
        """Begin again with the shortest pause."""
        self._failures = 0


class Pause:
    """A sleep that ends early when there is a reason to try now: `await pause(seconds)`."""

    def __init__(self) -> None:
        self._cut = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        """Wait `seconds`, or until `cut`."""
        try:
            async with asyncio.timeout(seconds):
                await self._cut.wait()
        except TimeoutError:
            pass
        self._cut.clear()

    def cut(self) -> None:
        """End the pause that is on, or the next one."""
        self._cut.set()
