"""The long soak measures what it says; how much a server grows is judged by running it."""

from __future__ import annotations

import asyncio

import pytest

from bench.longsoak import Sample, slope_per_hour, soak
from bench.site import bench_config, fresh_site


def sample(minute: float, megabytes: float) -> Sample:
    return Sample(minute * 60, 0, megabytes, 20, 0.0)


def test_what_a_server_takes_while_it_warms_up_is_no_growth() -> None:
    warm = [sample(minute, 60 + min(30, minute * 10)) for minute in range(60)]
    assert slope_per_hour(warm) == pytest.approx(0)


def test_a_leak_in_the_second_half_is_told_by_the_hour() -> None:
    leak = [sample(minute, 90 + 6 * minute / 60) for minute in range(60)]
    assert slope_per_hour(leak) == pytest.approx(6)


@pytest.mark.slow
@pytest.mark.process
def test_a_soak_works_at_the_rate_that_was_asked_for() -> None:
    with fresh_site(bench_config(settle=False)) as site:
        samples = asyncio.run(soak(site, minutes=0.03, rate=5, interval_s=0.5))
    assert samples[-1].events > samples[0].events
    assert all(each.rss_mb > 0 and each.files > 0 for each in samples)
