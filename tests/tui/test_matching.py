"""How letters find names."""

from __future__ import annotations

import pytest

from groupx_tui.matching import best_matches, rank


@pytest.mark.parametrize(
    ("typed", "name", "found"),
    [
        ("nord", "Nord", 0),
        ("no", "nord", 1),
        ("room", "Go to a room", 2),
        ("oom", "room", 3),
        ("gr", "Go to a room", 4),
        ("xyz", "room", None),
        ("", "anything", 1),
    ],
)
def test_the_nearer_the_name_the_lower_the_rank(typed: str, name: str, found: int | None) -> None:
    assert rank(typed, name) == found


def test_equal_ranks_keep_their_order() -> None:
    assert best_matches("a", ["ab", "aa", "b a"], lambda name: (name,)) == ["ab", "aa", "b a"]


def test_scattered_letters_count_only_in_the_first_name() -> None:
    items = [("Theme", "Choose the colours"), ("Rooms", "Everything")]
    assert best_matches("thm", items, lambda item: item) == [items[0]]
    assert best_matches("evy", items, lambda item: item) == []
