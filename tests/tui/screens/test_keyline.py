"""The line of keys of a dialog: never broken inside one of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.screens.dialog import broken


def test_it_breaks_between_two_keys() -> None:
    assert broken(["f2 add", "ctrl+y copy the text", "esc close"], 32) == [
        "f2 add   ctrl+y copy the text",
        "esc close",
    ]


@given(st.lists(st.text("ab ", min_size=1, max_size=12), min_size=1), st.integers(1, 40))
def test_every_key_is_there_once_and_in_order(items: list[str], width: int) -> None:
    rows = broken(items, width)
    assert "   ".join(rows) == "   ".join(items)
    assert all(len(row) <= width or row in items for row in rows)
