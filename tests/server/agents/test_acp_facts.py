"""What an ACP agent says of a session, read without trust."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.acp_facts import SessionFacts
from groupx_server.agents.base import MODEL_CHARS
from server.agents.dialogue import Player


@pytest.mark.parametrize(
    ("name", "model"),
    [("cline-basic", "gpt-4o"), ("grok-basic", "fake"), ("goose-basic", "fake-model")],
)
def test_the_model_of_a_recorded_session_is_known(name: str, model: str) -> None:
    assert Player().play(name).facts.model == model


@pytest.mark.parametrize(
    ("answer", "model"),
    [
        ({"models": {"currentModelId": "a/b:c"}}, "a/b:c"),
        ({"configOptions": [{"id": "m", "category": "model", "currentValue": "x"}]}, "x"),
        ({"configOptions": [{"id": "m", "category": "mode", "currentValue": "x"}]}, ""),
        ({"models": {"currentModelId": "a\nb"}}, "a b"),
        ({"models": {"currentModelId": "x" * 999}}, "x" * (MODEL_CHARS - 1) + "…"),
        ({"models": ["x"]}, ""),
        ({"models": {"currentModelId": 3}}, ""),
        (None, ""),
    ],
)
def test_a_model_is_a_clean_line_or_not_known(answer: Any, model: str) -> None:
    assert SessionFacts.read(answer).model == model
