"""Time, as a thing that is handed in: tests hand in their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import NamedTuple


class Clock(NamedTuple):
    """A rising clock in seconds, and a way to let time pass."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Deadline:
    """A point in time after which nobody waits any more; without `seconds` there is none."""

    def __init__(self, clock: Clock, seconds: float | None) -> None:
        self._clock = clock
        self._end = inf if seconds is None else clock.now() + seconds

    def left(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._end - self._clock.now())

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._clock.now() >= self._end

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass, or what is left."""
        self._clock.pause(min(seconds, self.left()))
