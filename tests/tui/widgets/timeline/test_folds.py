"""Folds: all folded until opened, by kind or one by one."""

from __future__ import annotations

import pytest

from groupx_tui.widgets.timeline.folds import TOOL_BODY, Folds, fold_of


def test_everything_is_folded_at_first() -> None:
    assert not Folds().is_open("turn:1", "tool", "tool:a")


def test_one_fold_differs_from_the_rule_of_its_kind() -> None:
    folds = Folds()
    folds.toggle("turn:1", "tool:a")
    assert folds.is_open("turn:1", "tool", "tool:a")
    assert not folds.is_open("turn:2", "tool", "tool:a")


def test_opening_a_kind_opens_all_and_forgets_exceptions() -> None:
    folds = Folds()
    folds.toggle("turn:1", "tool:a")
    folds.toggle("turn:1", "reasoning")
    folds.set_kind("tool", is_open=True)
    assert folds.is_open("turn:1", "tool", "tool:a")
    assert folds.is_open("turn:9", "tool", "tool:z")
    assert folds.is_open("turn:1", "reasoning", "reasoning")


def test_each_change_raises_the_version() -> None:
    folds = Folds()
    folds.toggle("turn:1", "tool:a")
    folds.set_kind("plan", is_open=False)
    assert folds.version == 2


@pytest.mark.parametrize(
    ("key", "fold"),
    [
        ("reasoning", "reasoning"),
        ("reasoning:3", "reasoning"),
        ("plan:0", "plan"),
        ("tool:call::7", "tool:call::7"),
        (f"tool:call::7{TOOL_BODY}0:2", "tool:call::7"),
        ("answer:4", None),
        ("head", None),
    ],
)
def test_a_part_knows_the_fold_that_it_lies_in(key: str, fold: str | None) -> None:
    assert fold_of(key) == fold
