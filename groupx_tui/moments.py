"""What people write for a day or a time, as a moment. Pure.

Invariant: what is understood is at or before now: one jumps to what was, not to what will be.
"""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Final

FORMS: Final = (
    "Expected first, last, a number, a day (today, yesterday, monday, 2026-03-31), a time (14:05) "
    "or how long ago (90m, 2h, 3d)."
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO: Final = re.compile(r"(\d{1,5})\s*([mhdw])(?: ago)?")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")
MIN_LETTERS: Final = 3
"""Of a weekday's name."""


def moment_of(text: str, now: datetime) -> datetime | None:
    """Return the moment that `text` means, in the zone of `now` (aware); None when it is none."""
    words = " ".join(text.lower().replace("t", " ", 1).split()) if _is_iso(text) else text.lower()
    words = " ".join(words.split())
    if match := _AGO.fullmatch(words):
        return _shifted(now, **{_UNITS[match[2]]: int(match[1])})
    day, _, rest = words.partition(" ")
    if (at := _clock(words)) is not None:
        moment = datetime.combine(now.date(), at, now.tzinfo)
        return moment if moment <= now else moment - timedelta(days=1)
    midnight = _day(day, now)
    if midnight is None or not rest:
        return midnight
    at = _clock(rest)
    return None if at is None else datetime.combine(midnight.date(), at, now.tzinfo)


def _is_iso(text: str) -> bool:
    return re.match(r"\s*\d{4}-\d{2}-\d{2}[tT]\d", text) is not None


def _day(word: str, now: datetime) -> datetime | None:
    """The beginning of a named day, the latest one that was."""
    midnight = datetime.combine(now.date(), time(), now.tzinfo)
    if word == "today":
        return midnight
    if word == "yesterday":
        return midnight - timedelta(days=1)
    for number, name in enumerate(_DAYS):
        if len(word) >= MIN_LETTERS and name.startswith(word):
            return midnight - timedelta(days=(now.weekday() - number) % 7)
    try:
        named = datetime.strptime(word, "%Y-%m-%d")  # noqa: DTZ007 - the zone comes with now's
    except ValueError:
        return None
    return named.replace(tzinfo=now.tzinfo)


def _clock(text: str) -> time | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return time(hours, minutes, seconds)


def _shifted(now: datetime, **span: int) -> datetime | None:
    try:
        return now - timedelta(**span)
    except OverflowError:
        return None
