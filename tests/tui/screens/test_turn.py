"""Details are facts: nothing is shown that is not known."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_tui.keymap import DEFAULT_KEYS
from groupx_tui.screens.turn import PHASE_WORDS, message_screen, turn_facts
from groupx_tui.state.model import TurnPhase
from groupx_tui.widgets.timeline.words import moment
from support.fake_session import AT, CODEX, message, turn


def facts(**more: object) -> dict[str, str]:
    shown = turn_facts(turn("turn_1", CODEX, "answer", **more))
    return {fact.label.plain: fact.text.plain for fact in shown}


def test_an_open_turn_tells_its_state_and_no_more_than_is_known() -> None:
    assert facts() == {
        "state": "working",
        "queued": moment(AT),
        "answer": "6 characters",
        "turn": "turn_1",
    }


def test_every_phase_has_a_word() -> None:
    assert set(PHASE_WORDS) == set(TurnPhase.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("certainty", "words"),
    [
        ("unknown", "uncertain"),
        ("not_delivered", "never got the message"),
        ("delivered", "delivered"),
    ],
)
def test_the_certainty_is_told_in_words(certainty: str, words: str) -> None:
    assert words in facts(certainty=certainty, phase="interrupted", order_seq=9)["delivery"]


def test_an_error_shows_code_and_sentence() -> None:
    shown = facts(error_code="AGENT_ERROR", error_message="No credit.")
    assert shown["error"] == "AGENT_ERROR · No credit."


def test_usage_shows_numbers_only() -> None:
    assert facts(usage={"inputTokens": 12, "model": {"x": 1}})["usage"] == "inputTokens 12"


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "on disk"),
        ({"is_pending": True}, "not confirmed by the server yet"),
        ({"refusal": "full"}, "not sent: full"),
    ],
)
def test_a_message_tells_whether_it_is_on_disk(more: dict[str, Any], state: str) -> None:
    screen = message_screen(DEFAULT_KEYS, message(3, "x", **more))
    shown = {fact.label.plain: fact.text.plain for fact in screen.facts}
    assert shown["state"] == state
    assert screen.copy_text() == ("evt_3", "the id")
