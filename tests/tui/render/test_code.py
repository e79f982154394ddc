"""Highlighting: styles only, and only for languages that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from groupx_tui.render.code import highlight, language_of
from groupx_tui.render.palette import PLAIN, Palette, Role

_KEYWORD = Style(color="red")
_PALETTE = Palette(Style(), {Role.SYNTAX_KEYWORD: _KEYWORD})


def test_keywords_are_coloured_by_the_palette() -> None:
    pieces = highlight("def f(): pass", "python", _PALETTE, Style())
    assert [text for text, style in pieces if style == _KEYWORD] == ["def", "pass"]


@pytest.mark.parametrize("language", ["", "no-such-language", "../etc"])
def test_unknown_languages_stay_plain(language: str) -> None:
    assert highlight("def f()", language, PLAIN, Style()) == [("def f()", Style())]


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python", "python"),
        ("{.rust}", "rust"),
        ("c++ title=x", "c++"),
        ("js:line", "js"),
        ("", ""),
    ],
)
def test_the_language_is_the_first_word_of_the_info(info: str, language: str) -> None:
    assert language_of(info) == language


@given(
    st.text(alphabet="def x=1'\"#\n\t {}[]()<>/*中", max_size=60),
    st.sampled_from(["python", "json", "html", "bash", "diff", "rust"]),
)
def test_highlighting_never_changes_the_text(code: str, language: str) -> None:
    assert "".join(text for text, _ in highlight(code, language, PLAIN, Style())) == code
