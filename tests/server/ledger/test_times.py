"""Times as the ledger stores them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.ledger.times import parse_iso, to_iso, utc_now, utc_now_iso

AWARE = st.datetimes(
    min_value=datetime(1000, 1, 2),  # noqa: DTZ001 - naive bounds, as hypothesis wants them
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.just(UTC),
)


def test_stored_form_has_milliseconds_and_z() -> None:
    assert to_iso(datetime(2026, 1, 2, 3, 4, 5, 6_999, tzinfo=UTC)) == "2026-01-02T03:04:05.006Z"


def test_other_zones_are_stored_as_utc() -> None:
    east = timezone(timedelta(hours=8))
    assert to_iso(datetime(2026, 1, 1, 7, tzinfo=east)) == "2025-12-31T23:00:00.000Z"


@given(AWARE)
def test_stored_time_comes_back_to_the_millisecond(moment: datetime) -> None:
    kept = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert parse_iso(to_iso(moment)) == kept


@given(AWARE, AWARE)
def test_stored_times_sort_as_text(one: datetime, other: datetime) -> None:
    if to_iso(one) < to_iso(other):
        assert one < other


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00"])
def test_text_that_is_no_time_in_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the sentence is Python's own
        parse_iso(text)


def test_time_without_a_zone_is_not_stored() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        to_iso(datetime(2026, 1, 1))  # noqa: DTZ001 - the point


def test_present_time_is_utc_in_the_stored_form() -> None:
    assert utc_now().utcoffset() == timedelta(0)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", utc_now_iso())


@pytest.mark.parametrize(
    "nanoseconds", [0, 999_999, 1_000_000, 1_769_850_900_249_999_999, 1_769_850_900_250_000_000]
)
def test_the_present_time_is_the_clocks_cut_to_the_millisecond(
    monkeypatch: pytest.MonkeyPatch, nanoseconds: int
) -> None:
    monkeypatch.setattr("groupx_server.ledger.times.time.time_ns", lambda: nanoseconds)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1_000)
    assert utc_now_iso() == to_iso(moment)
