"""Time as the use cases see it, replaceable in tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from groupx_server.ledger.times import utc_now_iso


@dataclass(frozen=True, slots=True)
class Clock:
    """`now()` is an ISO time for records; `monotonic()` is seconds for durations."""

    now: Callable[[], str] = utc_now_iso
    monotonic: Callable[[], float] = time.monotonic
