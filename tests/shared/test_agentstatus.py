"""An agent's state in words."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from groupx_shared.agentstatus import status_text, status_word


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def test_the_word_is_the_wire_s_own() -> None:
    assert [status_word(word) for word in ("ready", "needs_login", "rate_limited")] == [
        "ready",
        "needs login",
        "rate limited",
    ]
    assert status_text("needs_login", None) == "needs login"


def test_a_limit_says_its_end_to_the_minute_and_a_restart_to_the_second() -> None:
    noon = datetime.now(UTC).replace(hour=12, minute=5, second=7)
    assert status_text("rate_limited", noon.isoformat()) == "rate limited until 12:05"
    assert status_text("retrying", noon.isoformat()) == "retrying until 12:05:07"


def test_another_day_is_named() -> None:
    later = datetime(2026, 1, 31, 9, 15, tzinfo=UTC) + timedelta(days=400)
    assert status_text("rate_limited", later.isoformat()).endswith("until 2027-03-07 09:15")


@pytest.mark.parametrize("odd", ["soon", "", "9999-99-99T00:00:00Z", "0001-01-01T00:00:00+23:00"])
def test_an_odd_time_is_left_out(odd: str) -> None:
    assert status_text("rate_limited", odd) == "rate limited"
