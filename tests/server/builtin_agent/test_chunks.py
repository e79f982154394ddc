"""Payloads of many servers' dialects, and of none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.chunks import (
    ContentPart,
    Delta,
    ErrorReported,
    Finished,
    ReasoningPart,
    ToolFragment,
    UsageSeen,
    error_text,
    read_payload,
    read_reply,
)


def _read(payload: Any) -> list[Delta]:
    return read_payload(json.dumps(payload).encode())


def _delta(**fields: Any) -> list[Delta]:
    return _read({"choices": [{"index": 0, "delta": fields}]})


def test_content_and_finish_reason() -> None:
    payload = {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}
    assert _read(payload) == [ContentPart("hi"), Finished("stop")]
    assert read_payload(b" [DONE] ") == [Finished("")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_under_both_names(name: str) -> None:
    assert _delta(**{name: "hm", "content": None}) == [ReasoningPart("hm")]


def test_reasoning_given_under_both_names_counts_once() -> None:
    assert _delta(reasoning="hm", reasoning_content="hm") == [ReasoningPart("hm")]


def test_content_as_a_list_of_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
        "b",
        {"type": "image_url"},
    ]
    assert _delta(content=parts) == [ReasoningPart("hm"), ContentPart("a"), ContentPart("b")]


def test_tool_fragments_with_and_without_their_fields() -> None:
    calls = [
        {"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}},
        {"function": {"arguments": {"a": 1}}},
        "nonsense",
    ]
    assert _delta(tool_calls=calls) == [
        ToolFragment(0, "c", "f", ""),
        ToolFragment(None, "", "", '{"a":1}'),
    ]


def test_a_refusal_is_shown_and_ends_the_turn_as_one() -> None:
    assert _delta(refusal="I will not.") == [ContentPart("I will not."), Finished("content_filter")]


def test_usage_comes_with_empty_or_missing_choices() -> None:
    usage = {"prompt_tokens": 3}
    payloads: list[dict[str, Any]] = [{"choices": []}, {"choices": None}, {}]
    for payload in payloads:
        assert _read({**payload, "usage": usage}) == [UsageSeen(usage)]


def test_a_whole_message_is_read_like_a_delta_and_ends_the_reply() -> None:
    body = json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]})
    assert read_reply(body.encode()) == [ContentPart("hi"), Finished("stop"), Finished("")]
    assert read_reply(b"[1]") is None
    assert read_reply(b"oops") is None


def test_other_choices_are_not_mixed_in() -> None:
    other = {"index": 1, "delta": {"content": "other"}}
    assert _read({"choices": [other, {"index": 0, "delta": {"content": "mine"}}]}) == [
        ContentPart("mine")
    ]


@pytest.mark.parametrize(
    ("body", "message", "status"),
    [
        ({"error": {"message": "no", "code": 429}}, "no", 429),
        ({"error": {"message": "no", "code": "rate_limit", "status": 503}}, "no", 503),
        ({"error": "plain"}, "plain", None),
        ({"object": "error", "message": "vllm"}, "vllm", None),
        ({"detail": "Not Found"}, "Not Found", None),
        ({"error": {"type": "x"}}, '{"type": "x"}', None),
    ],
)
def test_errors_of_any_shape(body: Any, message: str, status: int | None) -> None:
    assert _read(body) == [ErrorReported(message, status)]
    assert error_text(json.dumps(body).encode()) == message


def test_an_error_page_in_html_says_nothing_and_plain_text_is_taken() -> None:
    assert error_text(b"  <html>502</html>") == ""
    assert error_text(b" overloaded\n") == "overloaded"
    assert error_text(b'{"fine": 1}') == ""


def test_several_payloads_in_one_event_are_read_line_by_line() -> None:
    line = json.dumps({"choices": [{"delta": {"content": "x"}}]}).encode()
    assert read_payload(line + b"\n" + line + b"\n[DONE]") == [
        ContentPart("x"),
        ContentPart("x"),
        Finished(""),
    ]


def test_half_a_surrogate_pair_becomes_a_replacement_and_a_whole_one_a_character() -> None:
    half = b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}'
    pair = b'{"choices":[{"delta":{"content":"\\ud83d\\ude00"}}]}'
    assert read_payload(half) == [ContentPart("a\ufffd")]
    assert read_payload(pair) == [ContentPart("\U0001f600")]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "message", "content", "tool_calls", "function", "error", "usage",
             "index", "id", "name", "arguments", "finish_reason", "reasoning", "text", "type"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None)
@given(_JSON)
def test_no_json_raises(value: Any) -> None:
    for item in _read(value):
        assert isinstance(item, Delta)


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    read_payload(data)
    error_text(data)
