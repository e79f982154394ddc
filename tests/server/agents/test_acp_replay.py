"""Which prompts a loaded session repeats, whole and bounded."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents import acp_replay
from groupx_server.agents.acp_replay import PROMPTS_KEPT, Replay


def _chunk(text: Any, kind: str = "user_message_chunk", **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}


def _prompts(*updates: dict[str, Any]) -> list[str]:
    replay = Replay()
    for update in updates:
        replay.take(update)
    return replay.prompts()


def test_pieces_of_one_prompt_are_one_prompt() -> None:
    answer = _chunk("no prompt", "agent_message_chunk")
    assert _prompts(_chunk("a"), _chunk("b"), answer, _chunk("c")) == ["ab", "c"]


def test_prompts_that_nothing_was_answered_to_are_told_apart_by_their_ids() -> None:
    assert _prompts(_chunk("a", messageId="1"), _chunk("b", messageId="2")) == ["a", "b"]


def test_only_the_newest_prompts_are_kept() -> None:
    updates = [_chunk(str(number), messageId=number) for number in range(10)]
    assert _prompts(*updates) == [str(number) for number in range(10)][-PROMPTS_KEPT:]


def test_a_prompt_that_never_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp_replay, "MAX_PROMPT_CHARS", 10)
    assert _prompts(*[_chunk("abcd")] * 5) == ["abcdabcd"]


@pytest.mark.parametrize("update", [{}, {"sessionUpdate": "user_message_chunk"}, _chunk(7)])
def test_an_update_of_another_form_is_no_text(update: dict[str, Any]) -> None:
    assert "".join(_prompts(update)) == ""
