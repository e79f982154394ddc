"""Cleaning: no text, however made, keeps a character that a terminal acts on."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.text import clip_text, safe_line, safe_text

HOSTILE = "\x00\x07\x08\x1b\x7f\x80\x9b\x9c\x85\u2028\u2029\u202a\u202e\u2066\u2069\u200e\u061c\r"
INVISIBLE = "\u200b\u200d\u2060\ufeff\ufe0f\U000e0041"
ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from(HOSTILE + INVISIBLE + " \n\t")))
EMOJI = "[\u00a9\u00ae\u203c-\u2bff\u3030-\u3299\U0001f000-\U0001faff]"
SURROGATES = st.text(st.characters(categories=["Cs"]), min_size=1)


def forbidden_in(text: str) -> set[str]:
    """By Unicode's own tables, not by the program's: controls, surrogates, direction."""
    return {
        character
        for character in text
        if (unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character not in "\n\t")
        or unicodedata.bidirectional(character)
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


@given(ANY_TEXT)
def test_no_forbidden_character_is_left(text: str) -> None:
    assert forbidden_in(safe_text(text)) == set()


@given(SURROGATES)
def test_half_characters_are_replaced_so_that_the_text_can_be_encoded(text: str) -> None:
    assert safe_text(text).encode() == ("\ufffd" * len(text)).encode()


@given(ANY_TEXT)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)
    assert safe_line(safe_line(text)) == safe_line(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"])))
def test_harmless_text_is_returned_as_it_is(text: str) -> None:
    assert safe_text(text) is text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\r\nb\n", "a\nb\n"),
        ("a\rb", "a␍b"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x9b31m", "\ufffd31m"),
        ("abc\u202ecba", "abc\ufffdcba"),
        ("one\u2028two", "one\ntwo"),
        ("del\x7f", "del␡"),
        ("tab\tstays\nhere", "tab\tstays\nhere"),
    ],
)
def test_what_was_there_stays_visible(text: str, cleaned: str) -> None:
    assert safe_text(text) == cleaned


@given(ANY_TEXT, st.integers(2, 300))
def test_a_line_is_one_short_line(text: str, max_chars: int) -> None:
    line = safe_line(text, max_chars)
    assert len(line) <= max_chars
    assert forbidden_in(line) == set()
    alone = re.sub(f"{EMOJI}\ufe0f?\u200d?|\ufe0f\u20e3", "", line)
    assert not set(alone) & set("\n\t" + INVISIBLE)
    assert line == line.strip()


@pytest.mark.parametrize("emoji", ["👨‍👩‍👧‍👦", "❤️", "🏳️‍🌈", "👩🏽‍💻", "1️⃣", "🇩🇪", "☎️"])
def test_an_emoji_in_a_name_stays_whole(emoji: str) -> None:
    assert safe_line(f"a{emoji} b {emoji}") == f"a{emoji} b {emoji}"


@pytest.mark.parametrize(
    "hidden", ["a\u200db", "\u200d👋", "👋\u200d", "a\ufe0fb", "a\ufe0f\u200d👋", "👋\u200d\u200db"]
)
def test_a_joiner_that_holds_no_emoji_together_is_dropped(hidden: str) -> None:
    assert safe_line(hidden) == re.sub("[\u200d\ufe0f]", "", hidden)


def test_a_cut_leaves_no_joiner_at_the_end() -> None:
    assert safe_line("👨‍👩‍👧‍👦", 3) == "👨…"


def test_a_cut_line_ends_in_an_ellipsis() -> None:
    assert safe_line("word " * 10, 12) == "word word w…"


def test_a_name_cannot_hide_characters() -> None:
    assert safe_line("ro\u200bot\ufeff  admin\U000e0041") == "root admin"


@given(st.text(), st.integers(64, 5_000))
def test_clipped_text_is_never_longer_than_asked(text: str, max_chars: int) -> None:
    assert len(clip_text(text, max_chars)) <= max_chars


@given(st.integers(64, 2_000), st.integers(1, 20_000))
def test_a_clipped_text_says_how_much_is_missing(max_chars: int, excess: int) -> None:
    text = "x" * (max_chars + excess)
    kept, mark = clip_text(text, max_chars).split("\n")
    omitted = int(mark.split()[2].replace(",", ""))
    assert len(kept) + omitted == len(text)


def test_text_that_fits_is_not_clipped() -> None:
    text = "x" * 64
    assert clip_text(text, 64) is text


def test_a_mark_that_grows_by_a_digit_still_fits() -> None:
    assert len(clip_text("x" * 1_090, 100)) <= 100
