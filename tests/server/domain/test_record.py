"""What a turn leaves is cleaned and bounded, whatever came."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.limits import Limits
from groupx_server.domain.native import ToolCall
from groupx_server.domain.record import BoundedText, bounded_call, tool_details

LIMITS = Limits(tool_characters=2_000)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


def strings_of(value: object) -> Iterator[str]:
    """Every string in it, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings_of(key)
            yield from strings_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings_of(item)


@given(st.lists(st.text(max_size=50)), st.integers(0, 100))
def test_bounded_text_keeps_the_start_and_counts_the_rest(pieces: list[str], limit: int) -> None:
    text = BoundedText(limit)
    for piece in pieces:
        text.append(piece)
    whole = "".join(pieces)
    assert str(text) == whole[:limit]
    assert text.omitted == max(0, len(whole) - limit)
    assert text.total == len(whole)


@given(
    title=st.text(),
    raw=JSON,
    content=st.lists(
        st.dictionaries(st.sampled_from(["type", "text", "oldText", "x"]), JSON), max_size=5
    ),
    locations=st.lists(st.dictionaries(st.sampled_from(["path", "line"]), JSON), max_size=5),
)
def test_details_of_any_call_are_bounded_and_clean(
    title: str, raw: object, content: list[dict[str, object]], locations: list[dict[str, object]]
) -> None:
    call = ToolCall("t", title, "k", "completed", raw, tuple(content), tuple(locations))
    details = tool_details(call, LIMITS, 5)
    # An escape that was spelled out in cut JSON stays spelled out: it is six harmless characters.
    assert not [text for text in strings_of(details) if "\x1b" in text]
    assert len(json.dumps(details, ensure_ascii=False)) < 200_000


def test_a_large_result_is_cut_with_a_mark_that_counts() -> None:
    call = ToolCall("t", content=({"type": "text", "text": "x" * 1_000_000},))
    details = tool_details(call, LIMITS, None)
    assert details["cut"]
    assert len(details["content"][0]["text"]) <= LIMITS.tool_characters
    assert "more characters" in details["content"][0]["text"]


def test_a_call_bounded_twice_is_still_said_to_be_cut() -> None:
    call = ToolCall("t", content=({"type": "text", "text": "x" * 1_000_000},))
    once = bounded_call(call, LIMITS)
    assert sum(len(str(item)) for item in once.content) < 3_000
    assert tool_details(once, LIMITS, None)["cut"]


def test_a_wrapped_text_item_is_unwrapped() -> None:
    item = {"type": "content", "content": {"type": "text", "text": "hi"}}
    details = tool_details(ToolCall("t", content=(item,)), LIMITS, None)
    assert details["content"] == [{"type": "text", "text": "hi"}]
