"""Tokens and limits as Codex tells them."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.codex_usage import RateLimits, ThreadUsage


def _report(total: int, last: int, window: Any = 1000) -> dict[str, Any]:
    return {
        "tokenUsage": {
            "total": {"totalTokens": total, "inputTokens": total},
            "last": {"totalTokens": last, "inputTokens": last},
            "modelContextWindow": window,
        }
    }


def test_a_turn_is_the_sum_of_its_requests() -> None:
    usage = ThreadUsage()
    usage.begin_turn()
    first = usage.take(_report(10, 10), is_ours=True)
    assert first == {
        "totalTokens": 10,
        "inputTokens": 10,
        "contextUsed": 10,
        "contextSize": 1000,
    }
    second = usage.take(_report(25, 15), is_ours=True)
    assert (second["totalTokens"], second["contextUsed"]) == (25, 15)
    usage.begin_turn()
    assert usage.take(_report(30, 5), is_ours=True)["totalTokens"] == 5


def test_the_same_report_twice_counts_once() -> None:
    usage = ThreadUsage()
    usage.take(_report(10, 10), is_ours=True)
    assert usage.take(_report(10, 10), is_ours=True) == {}


def test_a_report_of_an_earlier_turn_only_moves_the_total() -> None:
    usage = ThreadUsage()
    usage.begin_turn()
    assert usage.take(_report(100, 10), is_ours=False) == {}
    assert usage.take(_report(100, 10), is_ours=True) == {}
    assert usage.take(_report(120, 20), is_ours=True)["totalTokens"] == 20


@pytest.mark.parametrize("params", [{}, {"tokenUsage": None}, {"tokenUsage": {"last": [1]}}])
def test_a_report_that_says_nothing_is_nothing(params: dict[str, Any]) -> None:
    assert ThreadUsage().take(params, is_ours=True) == {}


@pytest.mark.parametrize(
    ("limits", "resets_at"),
    [
        ({"primary": {"usedPercent": 100, "resetsAt": 5}, "secondary": None}, 5),
        (
            {
                "primary": {"usedPercent": 100, "resetsAt": 5},
                "secondary": {"usedPercent": 120, "resetsAt": 9},
            },
            9,
        ),
        ({"primary": {"usedPercent": 99, "resetsAt": 5}}, None),
        ({"primary": {"usedPercent": 100}}, None),
        ("odd", None),
    ],
)
def test_a_used_up_window_tells_when_it_opens_again(limits: Any, resets_at: int | None) -> None:
    told = RateLimits()
    told.take({"rateLimits": limits})
    assert told.resets_at == resets_at
