"""Conditions: what an error's details say of the agent."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.domain.condition import Condition, read_condition


@pytest.mark.parametrize(
    ("details", "condition"),
    [
        ({}, None),
        ({"reason": "rate limit"}, None),
        ({"authRequired": True, "rateLimited": True}, Condition("needs_login")),
        ({"authRequired": "yes"}, None),
        ({"rateLimited": True}, Condition("rate_limited")),
        ({"rateLimited": True, "resetsAt": 1_900_000_000}, Condition("rate_limited", 1.9e9)),
        ({"rateLimited": True, "resetsAt": True}, Condition("rate_limited")),
        ({"rateLimited": True, "resetsAt": "soon"}, Condition("rate_limited")),
        ({"rateLimited": True, "resetsAt": -5}, Condition("rate_limited")),
        ({"resetsAt": 1_900_000_000}, None),
    ],
)
def test_only_facts_of_the_protocol_make_a_condition(
    details: dict[str, Any], condition: Condition | None
) -> None:
    assert read_condition(details) == condition
