"""Times as the ledger stores them: UTC text with milliseconds, `2026-01-31T09:15:00.250Z`.

The form sorts as text in time order, and is the one the earlier program wrote.
"""

from __future__ import annotations

import functools
import time
from datetime import UTC, datetime
from typing import Final

_SECOND: Final = len("2026-01-31T09:15:00")


def utc_now() -> datetime:
    """Return the present time, aware, in UTC."""
    return datetime.now(UTC)


def utc_now_iso() -> str:
    """Return the present time as the ledger stores it."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1_000)
    return f"{_second(seconds)}.{milliseconds:03d}Z"


@functools.lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    """A second since 1970 as text. Most of the moments that are asked for lie in few of them."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:_SECOND]


def to_iso(moment: datetime) -> str:
    """Return `moment` as the ledger stores it; what is finer than a millisecond is cut off.

    Raises:
        ValueError: `moment` has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone; the ledger stores UTC")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_iso(text: str) -> datetime:
    """Return a stored time as an aware datetime in UTC. Any ISO 8601 text with a zone is taken.

    Raises:
        ValueError: not such a time.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(
            f"“{text}” has no time zone; expected a form like 2026-01-31T09:15:00.250Z"
        )
    return moment.astimezone(UTC)
