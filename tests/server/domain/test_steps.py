"""Steps of a watched turn: numbered, without texts, kept until they are on disk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.steps import CONTENT_CHARS, MAX_STEPS, StepLog

NOW = "2026-01-31T09:15:00.250Z"


@given(st.lists(st.integers(0, 20_000), max_size=40))
def test_each_page_of_the_answer_is_one_step_however_it_comes(pieces: list[int]) -> None:
    log, total = StepLog(), 0
    for piece in pieces:
        total += piece
        log.content(NOW, total)
    pages = [step.chars or 0 for step in log.unsaved]
    assert pages == sorted(set(pages))
    assert len({chars // CONTENT_CHARS for chars in pages}) == len(pages)
    assert (max(pages, default=0) // CONTENT_CHARS) == total // CONTENT_CHARS


def test_steps_stay_until_they_are_saved_and_their_numbers_go_on() -> None:
    log = StepLog()
    log.tool("tool.started", NOW, "1", "read", "in_progress")
    first = log.unsaved
    log.tool("tool.completed", NOW, "1", "read", "completed")
    assert [step.number for step in log.unsaved] == [2, 3]
    log.saved(first)
    assert [(step.number, step.kind) for step in log.unsaved] == [(3, "tool.completed")]


def test_a_turn_without_end_has_so_many_steps_and_no_more() -> None:
    log = StepLog()
    for number in range(MAX_STEPS + 5):
        log.tool("tool.started", NOW, str(number), "read", "pending")
    assert len(log.unsaved) == MAX_STEPS
