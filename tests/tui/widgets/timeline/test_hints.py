"""Hints stand only where the key does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_tui.widgets.timeline.hints import KeyHints, is_uncertain, turn_hint
from support import timelines

KEYS = KeyHints("R", "C", "ctrl+g")


@pytest.mark.parametrize(
    ("phase", "text", "more", "hint"),
    [
        ("running", "", {}, ""),
        ("completed", "done", {}, ""),
        ("cancelling", "", {}, ""),
        ("queued", "", {}, "ctrl+g takes it back"),
        ("queued", "", {"hop_count": 1}, "ctrl+g stop"),
        ("failed", "", {}, "R retry"),
        ("failed", "", {"certainty": "not_delivered"}, "R retry"),
        ("failed", "", {"certainty": "delivered"}, "R retry · C continue"),
        ("cancelled", "half", {"certainty": "delivered"}, "R retry · C continue"),
        ("interrupted", "", {"certainty": "not_delivered"}, "R retry"),
        (
            "interrupted",
            "half",
            {"certainty": "unknown"},
            "R retry (it may then be done twice) · C continue",
        ),
    ],
)
def test_the_hint_of_each_state(phase: str, text: str, more: dict[str, Any], hint: str) -> None:
    assert turn_hint(timelines.turn(1, text, phase, **more), KEYS, is_taken_up=False) == hint


def test_a_key_that_was_taken_away_is_not_hinted_at() -> None:
    failed = timelines.turn(1, "half", "failed")
    assert turn_hint(failed, KeyHints(go_on="C"), is_taken_up=False) == "C continue"
    assert turn_hint(failed, KeyHints(), is_taken_up=False) == ""
    assert turn_hint(timelines.turn(1, "", "queued"), KeyHints(), is_taken_up=False) == ""


def test_what_was_taken_up_again_says_so() -> None:
    assert "below" in turn_hint(timelines.turn(1, "", "failed"), KEYS, is_taken_up=True)


@pytest.mark.parametrize(
    ("phase", "certainty", "is_so"),
    [
        ("interrupted", "unknown", True),
        ("interrupted", "delivered", True),
        ("interrupted", "not_delivered", False),
        ("failed", "unknown", True),
        ("failed", "delivered", False),
        ("running", "unknown", False),
    ],
)
def test_uncertain_is_what_nobody_knows_the_end_of(phase: str, certainty: str, is_so: bool) -> None:
    assert is_uncertain(timelines.turn(1, "", phase, certainty=certainty)) is is_so
