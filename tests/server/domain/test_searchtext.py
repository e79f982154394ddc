"""Text becomes words, the same for rows and queries."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain import searchtext
from groupx_server.domain.searchtext import (
    MAX_WORD_CHARS,
    fold,
    index_text,
    pieces,
    spans,
    words_of,
)
from groupx_server.domain.stopwords import UNINDEXED

ONE_TOKEN = re.compile(r'[^\x00-\x2f\x3a-\x60\x7b-\x7f"]+')
"""What the ascii tokenizer takes as one word: small letters, digits, everything above 127."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Review src/parser.py!", ["review", "src", "parser", "py"]),
        ("重跑gen-itgc后", ["重跑", "gen", "itgc", "后"]),
        ("我喜欢蓝色", ["我喜", "喜欢", "欢蓝", "蓝色"]),
        ("猫", ["猫"]),
        ("ＡＢＣ Café STRASSE straße", ["abc", "cafe", "strasse", "strasse"]),
        ("snake_case it's 3.14", ["snake", "case", "it", "s", "3", "14"]),
        ("done 🎉🎉", ["done", "🎉", "🎉"]),
        ("が", ["が"]),
        ("", []),
        ("?! -- ()", []),
    ],
)
def test_text_is_cut_into_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_single_characters_go_into_their_own_column() -> None:
    assert index_text("我喜欢 tea").singles == "我 喜 欢"
    assert index_text("我喜欢 tea").main == "我喜 喜欢 tea"


@given(st.text())
def test_every_word_is_one_token_of_the_tokenizer(text: str) -> None:
    indexed = index_text(text)
    for word in (*indexed.main.split(" "), *indexed.singles.split(" ")):
        assert word == "" or ONE_TOKEN.fullmatch(word)
    assert indexed.main == " ".join(word for word in words_of(text) if word not in UNINDEXED)


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_is_cut_as_all_other_text_is(text: str) -> None:
    assert words_of(text) == [piece for piece, _ in pieces(fold(text))]


@given(
    st.lists(st.sampled_from(["a", "bc", "x" * 70, " ", "\n\t", "-"]), max_size=40).map("".join),
    st.integers(1, 30),
)
def test_a_long_text_is_cut_piece_by_piece_as_it_is_cut_at_once(text: str, at_once: int) -> None:
    whole = words_of(text), index_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searchtext, "AT_ONCE_CHARS", at_once)
        assert (words_of(text), index_text(text)) == whole


def test_a_long_word_is_known_by_its_beginning() -> None:
    assert words_of("KEY" * 40 + " x") == [("key" * 40)[:MAX_WORD_CHARS], "x"]


@given(st.text())
def test_spans_lie_in_the_text_and_do_not_overlap(text: str) -> None:
    at = 0
    for start, end, word, _ in spans(text):
        assert at <= start < end <= len(text)
        assert word
        at = end
