"""The fold over events that `send --wait` rests on."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.cli.answers import Answers
from support.cli_server import answered, delta, ended, event, message

TURNS = [
    {"turnId": "turn_a", "target": "agent:a"},
    {"turnId": "turn_b", "target": "agent:b"},
]


def text_after(events: list[dict[str, Any]]) -> str:
    answers = Answers(TURNS)
    changes = [change for each in events if (change := answers.apply(each)) is not None]
    return "".join(change.text for change in changes if change.kind == "piece")


@given(st.lists(st.text(min_size=1, max_size=5), max_size=8), st.data())
def test_pieces_in_any_overlap_give_the_text_once(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    events, position = [], 0
    for piece in pieces:
        again = data.draw(st.integers(0, position))
        end = position + len(piece)
        events.append(delta("turn_a", again, text[again:end]))
        position = end
    assert text_after(events) == text


def test_a_piece_behind_a_hole_is_a_gap_until_the_hole_is_filled() -> None:
    answers = Answers(TURNS)
    late = delta("turn_a", 3, "def")
    change = answers.apply(late)
    assert change is not None
    assert change.kind == "gap"
    filled = answers.apply_snapshot(change.answer, {"partialText": "abc"})
    assert filled is not None
    assert filled.text == "abc"
    after = answers.apply(late)
    assert after is not None
    assert after.text == "def"


def test_statuses_follow_the_events() -> None:
    answers = Answers(TURNS)
    seen = []
    for kind in ("turn.dispatched", "turn.started", "turn.cancelling"):
        answers.apply(event(kind, {"turnId": "turn_a"}))
        seen.append(answers.by_id["turn_a"].status)
    assert seen == ["dispatching", "running", "cancelling"]


def test_the_named_response_is_the_answer() -> None:
    answers = Answers(TURNS)
    for each in [message(5, "aside", turnId="turn_a"), *answered("turn_a", 6, "answer")]:
        answers.apply(each)
    answer = answers.by_id["turn_a"]
    assert (answer.text, answer.response_event_id, answer.has_ended) == ("answer", "evt_6", True)
    assert [each.turn_id for each in answers.open] == ["turn_b"]


def test_a_turn_ends_once() -> None:
    answers = Answers(TURNS)
    assert answers.apply(ended("turn_a", 1, "cancelled")) is not None
    assert answers.apply(ended("turn_a", 2, "completed")) is None
    assert answers.by_id["turn_a"].status == "cancelled"


def test_the_longer_of_streamed_and_recorded_partial_text_is_kept() -> None:
    answers = Answers(TURNS)
    answers.apply(delta("turn_a", 0, "half of"))
    answers.apply(ended("turn_a", 1, "failed", partialText="half"))
    answers.apply(ended("turn_b", 2, "failed", partialText="more"))
    assert answers.by_id["turn_a"].text == "half of"
    assert answers.by_id["turn_b"].text == "more"


def test_events_of_other_turns_and_strange_events_change_nothing() -> None:
    answers = Answers(TURNS)
    strange: list[dict[str, Any]] = [
        {},
        {"body": None, "type": "turn.completed"},
        event("new.kind", {"turnId": "turn_a"}),
        ended("turn_x", 1, "failed"),
    ]
    assert [answers.apply(each) for each in strange] == [None] * 4
    assert len(answers.open) == 2
