"""Deadlines."""

from __future__ import annotations

from math import inf

from groupx_tui.cli.clock import Deadline
from support.cli_clock import SteppedClock


def test_a_deadline_counts_down_to_zero() -> None:
    clock = SteppedClock()
    deadline = Deadline(clock.clock, 2.0)
    deadline.pause(1.5)
    assert (deadline.left(), deadline.is_over) == (0.5, False)
    deadline.pause(9.0)
    assert (deadline.left(), deadline.is_over) == (0.0, True)
    assert clock.pauses == [1.5, 0.5]


def test_without_seconds_there_is_no_end() -> None:
    clock = SteppedClock()
    deadline = Deadline(clock.clock, None)
    deadline.pause(1e9)
    assert (deadline.left(), deadline.is_over) == (inf, False)
