"""Token counts in one spelling."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.token_usage import read_count, token_counts


def test_counts_of_every_spelling_have_one_name() -> None:
    assert token_counts(
        {"input_tokens": 1, "cachedInputTokens": 2, "reasoningOutputTokens": 3}
    ) == {
        "inputTokens": 1,
        "cachedTokens": 2,
        "thoughtTokens": 3,
    }


@pytest.mark.parametrize("value", [None, [], "x", {}, {"inputTokens": -1}, {"inputTokens": True}])
def test_what_is_no_count_is_left_out(value: Any) -> None:
    assert token_counts(value) == {}


@pytest.mark.parametrize(
    ("value", "count"), [(3, 3), (3.9, 3), (0, 0), (-1, None), (float("nan"), None), ("3", None)]
)
def test_a_count_is_a_whole_number(value: Any, count: int | None) -> None:
    assert read_count(value) == count
