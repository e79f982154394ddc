"""The part of a text that shows why it was found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.searchquery import parse_query
from groupx_server.domain.snippet import WIDTH, make_snippet


def _marked(content: str, query: str) -> list[str]:
    snippet = make_snippet(content, parse_query(query))
    return [snippet.text[start:end] for start, end in snippet.marks]


def test_found_words_are_marked_in_their_own_form() -> None:
    assert _marked("We Deployed it; the deploys were slow.", "deploy") == ["Deployed", "deploys"]


def test_chinese_pairs_that_touch_are_one_mark() -> None:
    assert _marked("我最喜欢蓝色的杯子", "喜欢蓝色") == ["喜欢蓝色"]
    assert _marked("那只猫在睡觉", "猫") == ["猫"]


def test_a_long_text_is_cut_around_the_first_mark() -> None:
    snippet = make_snippet("x " * 500 + "needle" + " y" * 500, parse_query("needle"))
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= WIDTH + 2
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["needle"]


def test_control_sequences_and_line_ends_do_not_get_through() -> None:
    snippet = make_snippet("first\n\x1b[2J needle\tlast", parse_query("needle"))
    assert "\x1b" not in snippet.text
    assert "\n" not in snippet.text
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["needle"]


@given(st.text(), st.text(max_size=50))
def test_marks_are_ascending_and_inside(content: str, query: str) -> None:
    snippet = make_snippet(content, parse_query(query))
    at = 0
    for start, end in snippet.marks:
        assert at <= start <= end <= len(snippet.text)
        at = end
