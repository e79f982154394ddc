"""What Codex's record of a thread tells about one turn (answers as seen on 0.171)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.base import Recalled
from groupx_server.agents.codex_recall import find_turn
from groupx_server.domain.native import TurnCompleted, TurnFailed


def _turn(turn_id: str, prompt: str, status: str = "completed", **more: Any) -> dict[str, Any]:
    items = [
        {"type": "userMessage", "content": [{"type": "text", "text": prompt}]},
        {"type": "reasoning", "summary": ["hm"]},
        {"type": "agentMessage", "text": "First."},
        {"type": "agentMessage", "text": "Second."},
    ]
    return {"id": turn_id, "items": items, "status": status, "error": None, **more}


ANSWER = {"data": [_turn("t2", "the second"), _turn("t1", "the first")], "nextCursor": None}


def _is_first(text: str) -> bool:
    return text == "the first"


def test_a_completed_turn_gives_its_answer_by_id_or_by_prompt() -> None:
    expected = Recalled(TurnCompleted(content="First.\n\nSecond."))
    assert find_turn(ANSWER, "t1", lambda _: False) == expected
    assert find_turn(ANSWER, None, _is_first) == expected


def test_a_turn_that_is_not_there_is_not_found() -> None:
    assert find_turn(ANSWER, "t9", lambda _: False) is None
    assert find_turn({"data": []}, None, _is_first) is None


@pytest.mark.parametrize("status", ["interrupted", "inProgress", "something new"])
def test_a_turn_that_did_not_end_was_had_and_its_end_is_not_known(status: str) -> None:
    answer = {"data": [_turn("t1", "the first", status)]}
    assert find_turn(answer, None, _is_first) == Recalled(None)


def test_a_failed_turn_gives_its_reason() -> None:
    answer = {"data": [_turn("t1", "x", "failed", error={"message": "no credit"})]}
    found = find_turn(answer, "t1", _is_first)
    assert found is not None
    assert isinstance(found.end, TurnFailed)
    assert found.end.message == "no credit"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_no_answer_makes_it_fail(answer: object) -> None:
    find_turn({"data": answer}, "t1", _is_first)
    find_turn(answer, "t1", _is_first)
