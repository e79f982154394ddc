"""Times and durations as they are worded."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from groupx_tui.widgets.timeline import words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0.0 s"),
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 m 00 s"),
        (125, "2 m 05 s"),
        (3_725, "1 h 02 m"),
    ],
)
def test_durations_show_their_two_largest_units(seconds: float, text: str) -> None:
    assert words.duration(seconds) == text


def test_a_running_clock_shows_whole_seconds() -> None:
    assert [words.whole_seconds(s) for s in (0.9, 12.7, 61.9)] == ["0 s", "12 s", "1 m 01 s"]


def test_times_are_shown_in_the_readers_zone() -> None:
    east = timezone(timedelta(hours=9))
    assert words.clock("2026-03-03T20:30:00Z", UTC) == "20:30"
    assert words.clock("2026-03-03T20:30:00Z", east) == "05:30"
    assert words.day_of("2026-03-03T20:30:00Z", east) == date(2026, 3, 4)
    assert words.day(date(2026, 3, 4)) == "Wednesday 4 March 2026"


def test_what_is_no_time_is_shown_as_nothing() -> None:
    assert words.clock("soon", UTC) == ""
    assert words.between("soon", "2026-03-03T20:30:00Z") is None


def test_ordinals_read_well() -> None:
    assert [words.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th"]
    )


def test_a_moment_is_local_and_anything_else_stays_as_it_is() -> None:
    assert words.moment("2026-03-03T14:03:21.500Z", UTC) == "2026-03-03 14:03:21"
    assert words.moment("soon", UTC) == "soon"
    assert words.moment(None, UTC) == ""


@pytest.mark.parametrize(
    ("minutes", "words_"),
    [(0, "now"), (1, "1 min ago"), (59, "59 min ago"), (60, "1 h ago"), (23 * 60, "23 h ago"),
     (24 * 60, "1 day ago"), (72 * 60, "3 days ago"), (-5, "now")],
)  # fmt: skip
def test_how_long_ago_something_was(minutes: int, words_: str) -> None:
    now = datetime(2026, 3, 3, 14, 3, tzinfo=UTC)
    assert words.ago((now - timedelta(minutes=minutes)).isoformat(), now) == words_


def test_what_is_no_time_was_not_ago() -> None:
    assert words.ago("x", datetime(2026, 3, 3, tzinfo=UTC)) == ""
