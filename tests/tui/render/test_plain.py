"""Plain text in parts: the same however it comes, bounded, and whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.render.markdown.scanner import Chunk
from groupx_tui.render.plain import MAX_PART_CHARS, PlainScanner

_TEXTS = st.lists(
    st.sampled_from(["short\n", "x" * 3_000, "word " * 500, "\n", "line\n" * 900, "中" * 2_000]),
    max_size=8,
).map("".join)


def _whole(text: str) -> list[Chunk]:
    scanner = PlainScanner()
    return [*scanner.feed(text), *scanner.finish()]


def _joined(chunks: list[Chunk]) -> str:
    marks = {"": "", "line": "", "block": "\n"}
    return "".join(marks[chunk.continues] + chunk.source for chunk in chunks)


@pytest.mark.slow
@given(_TEXTS, st.integers(1, 5_000))
@settings(max_examples=60)
def test_any_cutting_gives_the_same_parts(text: str, step: int) -> None:
    scanner = PlainScanner()
    chunks: list[Chunk] = []
    for start in range(0, len(text), step):
        chunks += scanner.feed(text[start : start + step])
        assert all(len(chunk.source) <= MAX_PART_CHARS for chunk in scanner.open_chunks())
    assert chunks + scanner.finish() == _whole(text)


@given(_TEXTS)
@settings(max_examples=60)
def test_the_parts_make_the_text(text: str) -> None:
    assert _joined(_whole(text)) == text.removesuffix("\n") or _joined(_whole(text)) == text
