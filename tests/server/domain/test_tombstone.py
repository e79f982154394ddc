"""Of a removed text only the shape stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.tombstone import TOMBSTONE, blank, texts_of
from groupx_shared.wire.bodies import MessageBody, ToolProgressBody

WORD = "xylophone"
VALUES = st.recursive(
    st.just(WORD) | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["content", "title", "input", "details", "x"]), VALUES))
def test_no_text_is_left_whatever_the_body_is(body: dict[str, Any]) -> None:
    left = blank(body)
    assert WORD not in str(left)
    assert texts_of(left) == []
    assert blank(left) == left


def test_a_message_and_a_tool_call_still_are_what_they_were() -> None:
    message = blank({"content": WORD, "turnId": "turn_1", "stopReason": "max_tokens"})
    assert MessageBody.model_validate(message).turn_id == "turn_1"
    details = {
        "title": WORD,
        "kind": "execute",
        "status": "completed",
        "input": {WORD: 1},
        "content": [{"type": "text", "text": WORD}],
        "locations": [{"path": WORD}],
        "cut": False,
        "durationMs": 7,
    }
    body = {"turnId": "t", "toolCallId": "c", "nativeType": "tool.completed", "details": details}
    tool = ToolProgressBody.model_validate(blank(body))
    assert (tool.details.title, tool.details.kind, tool.details.duration_ms) == (
        TOMBSTONE,
        "execute",
        7,
    )
