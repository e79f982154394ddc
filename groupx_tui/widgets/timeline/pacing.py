"""When a frame is drawn: the first change at once, then at most so many a second, else never.

Owns no timer and no clock: they are given. Invariant: at most one timer is pending, and none while
nothing has changed. Counterpart: the app, which asks for frames and shows the view in `draw`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

LOCAL_FPS: Final = 30
"""Frames a second in a terminal on this machine: twice as many cost half a core more and show
nothing one would miss."""

REMOTE_FPS: Final = 12
"""Over ssh and inside tmux or screen each frame is up to 10 KB of bytes."""

MAX_LOAD: Final = 0.35
"""Share of the time that drawing may take: slow frames are drawn more rarely, so keys are heard.
Time that other programs took from a frame is none of its cost; it would only come later still."""

_REMOTE_SIGNS: Final = ("SSH_CONNECTION", "SSH_TTY", "TMUX", "STY")


def frames_per_second(environ: Mapping[str, str] = os.environ) -> int:
    """Return the frame rate fit for the terminal that the environment describes."""
    return REMOTE_FPS if any(environ.get(sign) for sign in _REMOTE_SIGNS) else LOCAL_FPS


class FramePacer:
    """Calls `draw` for changes, paced.

    `call_later(delay_s, callback)` starts a one-shot timer (`App.set_timer` fits); `clock` returns
    monotonic seconds, `work_clock` those in which this thread worked. Not thread-safe: use it on
    the event loop.
    """

    def __init__(
        self,
        draw: Callable[[], object],
        call_later: Callable[[float, Callable[[], None]], object],
        clock: Callable[[], float],
        fps: int | None = None,
        work_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._draw = draw
        self._call_later = call_later
        self._clock = clock
        self._work_clock = work_clock
        self._interval_s = 1 / (fps or frames_per_second())
        self._next_at = float("-inf")
        self._is_waiting = False

    def request(self) -> None:
        """Something changed: draw now, or as soon as the pace allows. Cheap to call often."""
        if self._is_waiting:
            return
        wait_s = self._next_at - self._clock()
        if wait_s <= 0:
            self._frame()
        else:
            self._is_waiting = True
            self._call_later(wait_s, self._on_time)

    def _on_time(self) -> None:
        self._is_waiting = False
        self._frame()

    def _frame(self) -> None:
        started, worked = self._clock(), self._work_clock()
        self._draw()
        cost_s = self._work_clock() - worked
        self._next_at = started + max(self._interval_s, cost_s / MAX_LOAD)
