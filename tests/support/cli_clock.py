"""A clock that moves only when somebody pauses, and can do something at each pause."""

from __future__ import annotations

from collections.abc import Callable

from groupx_tui.cli.clock import Clock


class SteppedClock:
    """`clock` is handed in; `pauses` is what was waited; `on_pause` is called after each pause
    with the number of pauses so far."""

    def __init__(self, on_pause: Callable[[int], None] = lambda _: None) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []
        self.on_pause = on_pause
        self.clock = Clock(lambda: self.now, self._pause)

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        self.on_pause(len(self.pauses))
