"""Days and times as people write them, all of them in the past."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.moments import moment_of

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 3, 4, 15, 30, tzinfo=ZONE)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("today", "2026-03-04T00:00"),
        ("Yesterday", "2026-03-03T00:00"),
        ("yesterday 14:05", "2026-03-03T14:05"),
        ("wednesday", "2026-03-04T00:00"),
        ("thu", "2026-02-26T00:00"),
        ("monday 9:00", "2026-03-02T09:00"),
        ("2026-02-28", "2026-02-28T00:00"),
        ("2026-02-28 23:59:58", "2026-02-28T23:59:58"),
        ("2026-02-28T08:00", "2026-02-28T08:00"),
        ("14:05", "2026-03-04T14:05"),
        ("16:00", "2026-03-03T16:00"),
        ("90m", "2026-03-04T14:00"),
        ("2h ago", "2026-03-04T13:30"),
        ("3d", "2026-03-01T15:30"),
        ("1w", "2026-02-25T15:30"),
    ],
)
def test_it_is_understood(text: str, moment: str) -> None:
    assert moment_of(text, NOW) == datetime.fromisoformat(moment).replace(tzinfo=ZONE)


@pytest.mark.parametrize(
    "text", ["", "there", "mo", "25:00", "12:61", "2026-13-01", "today noon", "120", "12.5h"]
)  # fmt: skip
def test_what_is_no_moment_is_none(text: str) -> None:
    assert moment_of(text, NOW) is None


@given(st.text(max_size=20))
def test_no_text_is_an_error(text: str) -> None:
    moment = moment_of(text, NOW)
    assert moment is None or moment.tzinfo is ZONE
