"""Times, durations and counts as the timeline words them.

Pure. One spelling for each, so a state reads the same wherever it is drawn.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from typing import Final

from groupx_shared.english import counted

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


@lru_cache(maxsize=4096)
def parse_time(text: str) -> datetime | None:
    """Return an ISO time, aware (UTC when it names no zone), or None when it is none."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


@lru_cache(maxsize=4096)
def local_time(text: str, tz: tzinfo | None) -> datetime | None:
    """Return an ISO time in the zone shown (None: the machine's)."""
    at = parse_time(text)
    return None if at is None else at.astimezone(tz)


def clock(text: str, tz: tzinfo | None) -> str:
    """Return an ISO time as `14:03`, or "" when it is none."""
    at = local_time(text, tz)
    return "" if at is None else f"{at:%H:%M}"


def ago(text: str, now: datetime) -> str:
    """Return an ISO time as how long it is past: `now`, `5 min ago`, `3 h ago`, `2 days ago`; ""
    when it is none."""
    at = parse_time(text)
    if at is None:
        return ""
    minutes = max(0, int((now - at).total_seconds()) // _MINUTE_S)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 24 else f"{counted(hours // 24, 'day')} ago"


def when(text: str, tz: tzinfo | None, now: datetime | None) -> str:
    """Return an ISO time as the clock shows it, or, with `now`, as how long it is past."""
    return clock(text, tz) if now is None else ago(text, now)


def moment(text: str | None, tz: tzinfo | None = None) -> str:
    """Return an ISO time as `2026-03-03 14:03:21`, or as it is when it is none."""
    at = local_time(text or "", tz)
    return text or "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def day_of(text: str, tz: tzinfo | None) -> date | None:
    """Return the day of an ISO time in the zone shown."""
    at = local_time(text, tz)
    return None if at is None else at.date()


def day(at: date) -> str:
    """Return a day as `Tuesday 3 March 2026`."""
    return f"{at:%A} {at.day} {at:%B %Y}"


def duration(seconds: float) -> str:
    """Return a span of time in its two largest units: `0.4 s`, `12 s`, `2 m 05 s`, `1 h 02 m`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} m {whole % _MINUTE_S:02} s"
    return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02} m"


def whole_seconds(seconds: float) -> str:
    """Return a running clock, which never shows tenths: `3 s`, `2 m 05 s`."""
    return f"{max(0, int(seconds))} s" if seconds < _MINUTE_S else duration(int(seconds))


def between(start: str | None, end: str | None) -> float | None:
    """Return the seconds from one ISO time to another, when both are known."""
    first = None if start is None else parse_time(start)
    last = None if end is None else parse_time(end)
    return None if first is None or last is None else (last - first).total_seconds()


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `4th`, `11th` …"""
    tens = number % 100
    suffix = "th" if 10 < tens < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
