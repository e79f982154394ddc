"""Reasons in the words of agents."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.reasons import (
    inner_text,
    mentions_limit,
    mentions_policy,
    mentions_sign_in,
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("401 Unauthorized", (True, False, False)),
        ("No LLM provider configured", (True, False, False)),
        ("Failed to resolve provider: GOOSE_PROVIDER", (True, False, False)),
        ("Rate limit reached", (False, True, False)),
        ("429", (False, True, False)),
        ("disabled by your organization", (False, False, True)),
        ("port 14290 is busy", (False, False, False)),
    ],
)
def test_a_reason_is_known_by_its_words(text: str, told: tuple[bool, bool, bool]) -> None:
    assert (mentions_sign_in(text), mentions_limit(text), mentions_policy(text)) == told


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ('{"error": {"message": "inner"}}', "inner"),
        ({"detail": "told"}, "told"),
        ('{"broken', '{"broken'),
        ({"error": {"error": {"error": {"message": "too deep"}}}}, ""),
        (3, ""),
        (None, ""),
    ],
)
def test_the_inner_text_of_an_error(value: Any, text: str) -> None:
    assert inner_text(value) == text
