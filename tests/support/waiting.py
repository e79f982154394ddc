"""Waiting for another process, bounded: there is no event to wait for."""

from __future__ import annotations

import time
from collections.abc import Callable

STEP_S = 0.02


def eventually(condition: Callable[[], bool], within_s: float = 15.0) -> None:
    """Return once `condition()` holds; fail after `within_s`."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(STEP_S)
