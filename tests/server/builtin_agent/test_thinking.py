"""`<think>` at the start of an answer becomes reasoning, however it is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.builtin_agent.thinking import ThinkSplitter

_PIECES = ["<think>", "</think>", "<", "think", ">", "</thi", "a b", "\n", " ", "é", " " * 40]


def _split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkSplitter()
    parts = [part for piece in pieces for part in splitter.feed(piece)] + list(splitter.finish())
    assert all(text for _, text in parts)
    kinds = [kind for kind, _ in parts]
    assert kinds == sorted(kinds, reverse=True)  # all reasoning comes before all content
    return tuple(  # type: ignore[return-value]
        "".join(text for kind, text in parts if kind == wanted)
        for wanted in ("reasoning", "content")
    )


@settings(deadline=None)
@given(st.lists(st.sampled_from(_PIECES)), st.lists(st.integers(1, 4)))
def test_the_split_does_not_depend_on_the_pieces(pieces: list[str], sizes: list[int]) -> None:
    text = "".join(pieces)
    cut, rest = [], text
    for size in sizes:
        cut.append(rest[:size])
        rest = rest[size:]
    assert _split([*cut, rest]) == _split([text]) == _split(list(text))


@pytest.mark.parametrize(
    ("text", "reasoning", "content"),
    [
        ("<think>hm</think>\n\nyes", "hm", "yes"),
        ("\n<think>hm</think>yes", "hm", "yes"),
        ("yes <think>no</think>", "", "yes <think>no</think>"),
        ("<think>never closed", "never closed", ""),
        ("<think></think>yes", "", "yes"),
        ("<thinker>", "", "<thinker>"),
        ("<thi", "", "<thi"),
        ("<think>a</think>b</think>", "a", "b</think>"),
        ("plain", "", "plain"),
        ("", "", ""),
        ("  \n", "", "  \n"),
        (" " * 65 + "<think>a</think>", "", " " * 65 + "<think>a</think>"),
    ],
)
def test_only_a_block_at_the_start_is_reasoning(text: str, reasoning: str, content: str) -> None:
    assert _split([text]) == (reasoning, content)


def test_text_is_not_held_back_once_it_is_settled() -> None:
    splitter = ThinkSplitter()
    assert list(splitter.feed("<think>abc")) == [("reasoning", "abc")]
    assert list(splitter.feed("de</th")) == [("reasoning", "de")]
    assert list(splitter.feed("ink>x")) == [("content", "x")]
    assert list(splitter.feed("y")) == [("content", "y")]
