"""Large pastes: a chip stands for exactly one text, and nothing of it is ever lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.widgets.composer import pastes
from groupx_tui.widgets.composer.pastes import FOLD_CHARS, FOLD_LINES, MAX_CHIP_CHARS, PasteShelf

LONG = "line\n" * 1_234


def test_a_small_paste_stays_as_it_is() -> None:
    shelf = PasteShelf()
    for text in ("x" * FOLD_CHARS, "a\n" * (FOLD_LINES - 1) + "end", ""):
        assert shelf.fold_paste(text) == text
    assert shelf.is_empty


@pytest.mark.parametrize(
    ("text", "chip"),
    [
        (LONG, "[pasted 1,234 lines]"),
        ("a\n" * FOLD_LINES + "b", "[pasted 21 lines]"),
        ("汉" * 4_001, "[pasted 4,001 characters]"),
        ("x" * 3_000 + "\n" + "y" * 3_000, "[pasted 6,001 characters]"),
    ],
)
def test_a_large_one_says_how_large_it_is(text: str, chip: str) -> None:
    shelf = PasteShelf()
    assert shelf.fold_paste(text) == chip
    assert shelf.text_of(chip) == text
    assert shelf.expand(f"before {chip} after") == f"before {text} after"


def test_the_same_text_has_the_same_chip_and_another_one_a_number() -> None:
    shelf = PasteShelf()
    assert shelf.fold_paste("a" * 5_000) == "[pasted 5,000 characters]"
    assert shelf.fold_paste("a" * 5_000) == "[pasted 5,000 characters]"
    assert shelf.fold_paste("b" * 5_000) == "[pasted 5,000 characters #2]"
    assert shelf.expand("[pasted 5,000 characters #2]") == "b" * 5_000


def test_what_only_looks_like_a_chip_is_text() -> None:
    shelf = PasteShelf()
    typed = "see [pasted 9 lines]"
    assert shelf.expand(typed) == typed
    shelf.fold_paste(LONG)
    assert shelf.expand(typed) == typed
    assert shelf.chips_in(typed) == []


def test_a_chip_inside_a_pasted_text_is_not_expanded_twice() -> None:
    shelf = PasteShelf()
    inner = shelf.fold_paste(LONG)
    outer = shelf.fold_paste(f"{inner}\n" * 30)
    assert shelf.expand(outer) == f"{inner}\n" * 30


def test_a_known_text_is_folded_again() -> None:
    shelf = PasteShelf()
    chip = shelf.fold_paste(LONG)
    assert shelf.fold_known(f"draft {LONG} end") == f"draft {chip} end"


def test_beyond_the_bound_a_paste_is_inserted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pastes, "MAX_KEPT_CHARS", 5_000)
    shelf = PasteShelf()
    assert shelf.fold_paste("a" * 4_500) != "a" * 4_500
    assert shelf.fold_paste("b" * 4_500) == "b" * 4_500


def test_the_chip_at_a_place_is_found_on_a_very_long_line() -> None:
    shelf = PasteShelf()
    chip = shelf.fold_paste(LONG)
    line = "x" * 100_000 + chip + "y" * 100_000
    start, end = 100_000, 100_000 + len(chip)
    assert shelf.chip_around(line, start) is None
    assert shelf.chip_around(line, start + 1) == (start, end)
    assert shelf.chip_around(line, end) is None
    assert shelf.chip_at(line, start) == shelf.chip_at(line, end) == (start, end)
    assert shelf.chip_at(line, start - 1) is None


@given(st.lists(st.text(max_size=30), max_size=4), st.integers(0, 10**9))
def test_expanding_gives_back_what_was_pasted(around: list[str], size: int) -> None:
    shelf = PasteShelf()
    texts = [f"{part}\n" * 40 for part in around]
    shown = "|".join(shelf.fold_paste(text) for text in texts)
    assert shelf.expand(shown) == "|".join(texts)
    assert len(f"[pasted {size:,} characters #999]") <= MAX_CHIP_CHARS
