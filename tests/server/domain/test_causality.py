"""Cycles of waiting, and two agents that only call each other."""

from __future__ import annotations

import pytest

from groupx_server.domain.causality import calls_in_a_row, check_cycle
from groupx_server.domain.limits import Limits, check_budget, check_ping_pong, raised
from groupx_shared.errors import ErrorCode, RefusedError


@pytest.mark.parametrize("target", ["agent:a", "agent:b", "agent:c"])
def test_waiting_for_the_caller_or_anybody_above_it_is_a_cycle(target: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_cycle(["agent:a", "agent:b", "agent:c"], ["agent:x", target])
    assert refused.value.code is ErrorCode.CAUSAL_CYCLE
    assert refused.value.details["target"] == target


def test_waiting_for_somebody_else_is_no_cycle() -> None:
    check_cycle(["agent:a", "agent:b"], ["agent:c", "agent:d"])


@pytest.mark.parametrize(
    ("chain", "target", "calls"),
    [
        ("a", "b", 1),
        ("ab", "b", 2),
        ("aba", "b", 3),
        ("abab", "b", 4),
        ("abac", "b", 3),
        ("acab", "b", 1),
        ("ab", "c", 1),
        ("aaa", "a", 3),
    ],
)
def test_only_calls_between_the_two_are_counted(chain: str, target: str, calls: int) -> None:
    assert calls_in_a_row(chain, target) == calls


def test_a_limit_of_six_lets_six_calls_through() -> None:
    check_ping_pong(Limits(ping_pong_calls=6), "agent:a", "agent:b", 6)
    with pytest.raises(RefusedError) as refused:
        check_ping_pong(Limits(ping_pong_calls=6), "agent:a", "agent:b", 7)
    assert refused.value.details == {"limitKind": "pingPongCalls", "limit": 6}


def test_a_budget_of_zero_is_none_and_a_used_up_one_refuses() -> None:
    check_budget(Limits(), 10**9)
    check_budget(Limits(tokens_per_root=100), 99)
    with pytest.raises(RefusedError) as refused:
        check_budget(Limits(tokens_per_root=100), 100)
    assert refused.value.code is ErrorCode.BUDGET_EXCEEDED


def test_each_allowance_adds_the_limits_of_a_root_once_more_and_no_others() -> None:
    limits = Limits(tokens_per_root=10)
    twice = raised(limits, 2)
    assert (twice.root_turns, twice.hop_count, twice.actor_calls_per_root) == (144, 72, 48)
    assert (twice.ping_pong_calls, twice.tokens_per_root) == (18, 30)
    assert twice.queue_per_agent == limits.queue_per_agent
    assert raised(limits, 0) is limits
