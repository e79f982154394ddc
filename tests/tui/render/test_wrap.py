"""Wrapping by cells: nothing too wide, nothing lost, nothing split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, split_graphemes
from rich.style import Style

from groupx_tui.render import wrap
from groupx_tui.render.wrap import Span, chop_spans, wrap_pieces, wrap_spans

_ALPHABET = st.sampled_from(
    [
        "a",
        "B",
        "é",
        " ",
        " ",
        "-",
        ".",
        "/",
        "中",
        "文",
        "。",
        "（",
        "」",
        "한",
        "😀",
        "❤️",
        "👩‍🚀",
        "e\u0301",
    ]
)
_TEXTS = st.lists(_ALPHABET, max_size=80).map("".join)
_WIDTHS = st.integers(min_value=2, max_value=30)


def _lines(text: str, width: int) -> list[str]:
    return [text[span.start : span.end] for span in wrap_spans(text, width)]


@given(_TEXTS, _WIDTHS)
def test_no_line_is_wider_than_the_width(text: str, width: int) -> None:
    assert all(cell_len(line) <= width for line in _lines(text, width))


@given(_TEXTS, _WIDTHS)
def test_lines_and_what_was_dropped_make_the_text(text: str, width: int) -> None:
    spans = wrap_spans(text, width)
    assert "".join(text[a:b] + text[b:c] for a, b, c in spans) == text
    assert all(not text[b:c].strip(" ") for _, b, c in spans)


@pytest.mark.slow
@given(_TEXTS, _WIDTHS)
def test_chopping_keeps_every_character_in_place(text: str, width: int) -> None:
    spans = chop_spans(text, width)
    assert "".join(text[a:b] for a, b, _ in spans) == text
    assert all(cell_len(text[a:b]) <= width for a, b, _ in spans)


@pytest.mark.slow
@given(_TEXTS, _WIDTHS)
def test_cuts_lie_between_graphemes(text: str, width: int) -> None:
    borders = {0, len(text)} | {start for start, _, _ in split_graphemes(text)[0]}
    for span in [*wrap_spans(text, width), *chop_spans(text, width)]:
        assert {span.start, span.end} <= borders


@given(st.text(alphabet="ab -.", min_size=1, max_size=80), _WIDTHS)
def test_the_fast_way_for_ascii_gives_the_same_lines(text: str, width: int) -> None:
    fast, general = wrap._wrap_ascii(text, width), wrap._wrap_wide(text, width)
    assert _words(text, fast) == _words(text, general)


def _words(text: str, spans: list[Span]) -> list[str]:
    return [text[span.start : span.end].strip(" ") for span in spans if text[span.start : span.end]]


def test_words_are_kept_whole_when_they_fit() -> None:
    assert _lines("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    url = "https://example.com/" + "x" * 20
    assert _lines(f"see {url}", 16) == ["see", url[:16], url[16:32], url[32:]]


def test_chinese_breaks_anywhere_but_not_before_a_full_stop() -> None:
    assert _lines("今天天气很好。明天", 12) == ["今天天气很", "好。明天"]


def test_an_opening_bracket_does_not_end_a_line() -> None:
    assert _lines("今天天气（很好）", 10) == ["今天天气", "（很好）"]


def test_indentation_of_a_line_stays() -> None:
    assert _lines("    code here", 8) == ["    code", "here"]


@pytest.mark.parametrize("text", ["", "a", "中"])
def test_there_is_always_a_line(text: str) -> None:
    assert wrap_spans(text, 20) == [Span(0, len(text), len(text))]


def test_pieces_keep_their_styles_across_lines() -> None:
    bold, plain = Style(bold=True), Style()
    lines = wrap_pieces([("one ", plain), ("two three", bold), (" four", plain)], 8)
    assert [line.pieces for line in lines] == [
        [("one ", plain), ("two", bold)],
        [("three", bold)],
        [("four", plain)],
    ]
    assert "".join(line.text + line.joiner for line in lines) == "one two three four\n"


def test_an_emoji_sequence_split_over_pieces_is_drawn_as_one() -> None:
    red, blue = Style(color="red"), Style(color="blue")
    (line,) = wrap_pieces(
        [("a👩", red), ("\u200d", blue), ("🚀b1", red), ("\ufe0f\u20e3", blue)], 6
    )
    assert line.pieces == [("a👩\u200d🚀", red), ("b1\ufe0f\u20e3", red)]
    assert sum(cell_len(text) for text, _ in line.pieces) == cell_len(line.text) == 6


def test_a_blank_with_a_mark_on_it_does_not_make_a_line_too_wide() -> None:
    assert all(cell_len(line) <= 8 for line in _lines('_#/"> \\X \u200b', 8))


def test_line_breaks_in_pieces_begin_new_lines() -> None:
    lines = wrap_pieces([("a\n\nb\tc", Style())], 20)
    assert [(line.text, line.joiner) for line in lines] == [
        ("a", "\n"),
        ("", "\n"),
        ("b    c", "\n"),
    ]


def test_a_line_of_a_megabyte_is_wrapped_in_linear_time() -> None:
    spans = wrap_spans("x" * 1_000_000, 80)
    assert len(spans) == 12_500
