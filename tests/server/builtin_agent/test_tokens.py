"""Token counts are summed as reported."""

from __future__ import annotations

from groupx_server.builtin_agent.tokens import TokenCount


def test_nothing_reported_is_nothing_said() -> None:
    count = TokenCount()
    assert count.add({}) == 0
    assert count.total() is None


def test_counts_of_several_requests_are_summed_and_the_last_context_is_returned() -> None:
    count = TokenCount()
    first = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    second = {
        "prompt_tokens": 20,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    assert (count.add(first), count.add(second)) == (15, 27)
    assert count.total() == {
        "inputTokens": 30,
        "outputTokens": 12,
        "totalTokens": 42,
        "thoughtTokens": 4,
        "cachedReadTokens": 8,
    }


def test_counts_that_are_no_numbers_are_passed_over() -> None:
    count = TokenCount()
    assert count.add({"prompt_tokens": "many", "completion_tokens": -3}) == 0
    assert count.total() == {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
