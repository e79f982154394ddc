"""The block scanner: the same blocks however the text comes, cut where markdown has a border."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groupx_tui.render.markdown.parser import parse
from groupx_tui.render.markdown.scanner import (
    MAX_BLOCK_CHARS,
    MAX_LINE_CHARS,
    BlockScanner,
    Chunk,
)

_LINES = st.sampled_from(
    [
        "",
        "",
        "text",
        "more *text*",
        "# heading",
        "===",
        "---",
        "***",
        "- item",
        "  - nested",
        "    deep",
        "  continued",
        "1. one",
        "2) two",
        "> quote",
        ">",
        "```",
        "```py",
        "~~~",
        "    code",
        "\tcode",
        "| a | b |",
        "|---|---|",
        "1",
        "-",
        "中文 段落",
        "<div>",
    ]
)
_USUAL_LINES = st.sampled_from(
    [
        "",
        "text",
        "more *text*",
        "# heading",
        "---",
        "- item",
        "  - nested",
        "  continued",
        "1. one",
        "> quote",
        "> - quoted item",
        "```",
        "```py",
        "| a | b |",
        "|---|---|",
        "中文 段落",
    ]
)
_TEXTS = st.lists(_LINES, max_size=24).map("\n".join)


def _whole(text: str) -> list[Chunk]:
    scanner = BlockScanner()
    return [*scanner.feed(text), *scanner.finish()]


@pytest.mark.slow
@given(_TEXTS, st.data())
def test_any_cutting_of_the_stream_gives_the_same_blocks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    scanner = BlockScanner()
    chunks: list[Chunk] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        chunks += scanner.feed(text[start:end])
        scanner.open_chunks()  # looking does not change anything
    assert chunks + scanner.finish() == _whole(text)


@given(_TEXTS)
def test_no_line_is_lost(text: str) -> None:
    shown = [line.strip() for chunk in _whole(text) for line in chunk.source.split("\n")]
    fences = {"```", "```py", "~~~"}
    wanted = [line.strip() for line in text.split("\n") if line.strip()]
    assert [line for line in shown if line and line not in fences] == [
        line for line in wanted if line not in fences
    ]


def _top_level(text: str) -> list[str]:
    """Return what markdown-it sees at the top level: types, with items instead of lists."""
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(text)
    types: list[str] = []
    for token in tokens:
        if token.type in ("bullet_list_open", "ordered_list_open", "bullet_list_close"):
            continue
        in_list = token.type == "list_item_open" and token.level == 1
        if (token.level == 0 and token.nesting >= 0) or in_list:
            types.append(token.type)
    return types


@pytest.mark.slow
@given(st.lists(_USUAL_LINES, max_size=16).map("\n".join))
@settings(max_examples=200)
def test_blocks_parsed_apart_are_those_of_the_whole_text(text: str) -> None:
    apart: list[str] = []
    for chunk in _whole(text):
        if chunk.kind == "fence":
            apart.append("fence")
        else:
            apart += _top_level(chunk.source)
    assert apart == _top_level(text)


def test_the_open_block_is_shown_but_not_closed() -> None:
    scanner = BlockScanner()
    assert [chunk.source for chunk in scanner.feed("one\n\ntwo\nthr")] == ["one"]
    (tail,) = scanner.open_chunks()
    assert (tail.source, tail.is_closed, tail.has_gap) == ("two\nthr", False, True)


def test_an_open_fence_is_a_fence_from_its_first_line() -> None:
    scanner = BlockScanner()
    scanner.feed("```python\nx = 1\n")
    (tail,) = scanner.open_chunks()
    assert (tail.kind, tail.info, tail.source, tail.is_closed) == (
        "fence",
        "python",
        "x = 1",
        False,
    )


def test_a_dash_that_may_begin_a_list_does_not_flash_as_a_heading() -> None:
    scanner = BlockScanner()
    scanner.feed("text\n-")
    assert [chunk.source for chunk in scanner.open_chunks()] == ["text"]
    assert [chunk.source for chunk in scanner.finish()] == ["text\n-"]


def test_list_items_are_blocks_and_keep_counting() -> None:
    chunks = _whole("3. a\n1. b\n\n7. c\n")
    assert [(chunk.source, chunk.ordinal, chunk.has_gap) for chunk in chunks] == [
        ("3. a", 3, False),
        ("1. b", 4, False),
        ("7. c", 5, True),
    ]


def test_a_long_table_is_cut_between_rows_and_keeps_its_head() -> None:
    rows = [f"| {n} | {'x' * 40} |" for n in range(1_000)]
    chunks = _whole("\n".join(["| a | b |", "|---|---|", *rows]))
    assert len(chunks) > 2
    assert all(chunk.head == "| a | b |\n|---|---|\n" for chunk in chunks[1:])
    assert "\n".join(chunk.source for chunk in chunks).count("\n") == 1_001
    tokens = parse(chunks[1].head + chunks[1].source)
    assert tokens is not None
    assert tokens[0].type == "table_open"


def test_a_long_list_item_goes_on_at_its_own_indentation() -> None:
    text = "- first\n" + "\n".join(f"  line {n} " + "x" * 60 for n in range(400)) + "\n- second"
    chunks = _whole(text)
    assert chunks[1].indent == 2
    assert chunks[1].continues == "block"
    assert chunks[1].source.startswith("line ")
    assert chunks[-1].source == "- second"


@pytest.mark.parametrize(
    "text",
    [
        "#" * 100_000,
        "`" * 100_000,
        "x" * 1_000_000,
        "word " * 200_000,
        "- " * 50_000,
        "[" * 100_000,
    ],
    ids=["hashes", "backticks", "line", "words", "bullets", "brackets"],
)
def test_what_is_open_stays_bounded_whatever_comes(text: str) -> None:
    scanner = BlockScanner()
    shown = ""
    for start in range(0, len(text), 50_000):
        shown += "".join(chunk.source for chunk in scanner.feed(text[start : start + 50_000]))
        tail = sum(len(chunk.source) for chunk in scanner.open_chunks())
        assert tail <= MAX_BLOCK_CHARS + MAX_LINE_CHARS
    shown += "".join(chunk.source for chunk in scanner.finish())
    assert shown == text


def test_an_over_long_line_in_a_fence_stays_code() -> None:
    chunks = _whole("```json\n" + "x" * 20_000 + "\nend\n```\nafter")
    assert [chunk.kind for chunk in chunks] == ["fence"] * 4 + ["markdown"]
    assert [chunk.continues for chunk in chunks] == ["", "line", "line", "block", ""]
    assert "".join(chunk.source for chunk in chunks[:3]) == "x" * 20_000
    assert [chunk.source for chunk in chunks[3:]] == ["end", "after"]
