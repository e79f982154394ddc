"""Time for everything that waits for an agent: one clock that tests can hold still.

Owns nothing. Invariant: code of this package reads the time and waits only through a `Clock`, so
that a timeout can be tested without waiting for it. Monotonic seconds; never a date.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A source of monotonic time that can also wait."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    async def wait(self, event: asyncio.Event, until: float | None) -> bool:
        """Wait for `event`, at most until the time `until` (None: without end).

        Returns True when the event is set, False when the time came first.
        """
        ...


class SystemClock:
    """The real clock."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, until: float | None) -> bool:
        """See `Clock.wait`."""
        if event.is_set():
            return True
        if until is None:
            return await event.wait()
        try:
            async with asyncio.timeout(max(0.0, until - self.now())):
                return await event.wait()
        except TimeoutError:
            return event.is_set()
