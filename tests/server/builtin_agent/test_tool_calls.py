"""Tool calls from the fragments of different servers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.chunks import ToolFragment
from groupx_server.builtin_agent.tool_calls import (
    MAX_ARGUMENT_CHARS,
    MAX_CALLS,
    ToolArgumentsError,
    ToolCallAssembler,
)


def _calls(*fragments: ToolFragment) -> list[tuple[str, str, str]]:
    assembler = ToolCallAssembler()
    for fragment in fragments:
        assembler.add(fragment)
    return [(call.call_id, call.name, call.arguments) for call in assembler.calls]


@settings(deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.integers(), max_size=3), max_size=4),
    st.integers(1, 5),
)
def test_indexed_calls_come_back_whole(arguments: list[dict[str, int]], size: int) -> None:
    texts = [json.dumps(item) for item in arguments]
    fragments = [ToolFragment(n, f"c{n}", f"f{n}", "") for n in range(len(texts))]
    longest = max((len(text) for text in texts), default=0)
    for start in range(0, longest, size):  # the calls' pieces arrive interleaved
        fragments += [
            ToolFragment(n, "", "", text[start : start + size]) for n, text in enumerate(texts)
        ]
    assert _calls(*fragments) == [(f"c{n}", f"f{n}", text) for n, text in enumerate(texts)]


def test_an_id_repeated_in_every_fragment_is_one_call() -> None:
    fragments = [ToolFragment(0, "c", "f", "{"), ToolFragment(0, "c", "f", "}")]
    assert _calls(*fragments) == [("c", "f", "{}")]


def test_whole_calls_that_all_have_the_index_0_are_told_apart_by_id() -> None:
    fragments = [ToolFragment(0, "a", "f", "{}"), ToolFragment(0, "b", "f", "{}")]
    assert _calls(*fragments) == [("a", "f", "{}"), ("b", "f", "{}")]


def test_calls_without_index_and_id_are_told_apart_by_their_names() -> None:
    fragments = [ToolFragment(None, "", "f", "{}"), ToolFragment(None, "", "g", "{}")]
    assert _calls(*fragments) == [("", "f", "{}"), ("", "g", "{}")]


def test_calls_over_the_limit_are_counted_and_not_kept() -> None:
    assembler = ToolCallAssembler()
    for number in range(MAX_CALLS + 3):
        assembler.add(ToolFragment(number, f"c{number}", "f", "{}"))
    assert len(assembler.calls) == MAX_CALLS
    assert assembler.ignored == 3


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "valid JSON"), ("[1]", "one JSON object"), ("NaN", "valid JSON")]
)
def test_arguments_that_are_no_object_are_told_to_the_model(text: str, reason: str) -> None:
    assembler = ToolCallAssembler()
    assembler.add(ToolFragment(0, "c", "f", text))
    with pytest.raises(ToolArgumentsError, match=reason):
        assembler.calls[0].parse_arguments()


def test_no_arguments_mean_none() -> None:
    assembler = ToolCallAssembler()
    assembler.add(ToolFragment(0, "c", "f", ""))
    assert assembler.calls[0].parse_arguments() == {}


def test_endless_arguments_are_not_kept() -> None:
    assembler = ToolCallAssembler()
    for _ in range(10):
        assembler.add(ToolFragment(0, "c", "f", "x" * (MAX_ARGUMENT_CHARS // 4)))
    call = assembler.calls[0]
    assert len(call.arguments) <= MAX_ARGUMENT_CHARS
    with pytest.raises(ToolArgumentsError, match="over"):
        call.parse_arguments()
