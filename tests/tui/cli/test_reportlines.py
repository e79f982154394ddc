"""Reports of agents in lines."""

from __future__ import annotations

from groupx_tui.cli.reportlines import level_of, line_of, times_of
from support.fake_trials import report


def test_a_state_of_a_newer_server_is_a_warning_and_shown() -> None:
    odd = report("kimi", "half_asleep")
    assert level_of(odd) == "warning"
    assert line_of(odd) == "Kimi: half asleep."


def test_a_limit_and_a_missing_version_read_well() -> None:
    limited = report("kimi", "rate_limited", problem="Out of its limits.", program="/bin/kimi")
    assert line_of(limited) == "Kimi: rate limited. Out of its limits."


def test_times_of_one_that_does_not_work_are_left_out() -> None:
    limited = report("kimi", "needs_login", problem="No key.", startS=1.0)
    assert line_of(limited) == "Kimi: needs login. No key."


def test_times_come_in_the_order_in_which_they_passed() -> None:
    times = {"stopS": 0.04, "turnS": 2.0, "firstEventS": 1.26, "sessionS": 0.5, "startS": 1}
    assert times_of(report("kimi", "ready", **times)) == (
        "start 1.0 s, session 0.5 s, first sign 1.3 s, answer 2.0 s, stop 0.0 s"
    )
