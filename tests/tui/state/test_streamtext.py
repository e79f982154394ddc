"""Text that grows: views stay what they were, whoever appends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.state.streamtext import StreamText


@given(st.lists(st.text(max_size=5), max_size=20))
def test_pieces_make_the_text(pieces: list[str]) -> None:
    text = StreamText()
    for piece in pieces:
        text = text.append(piece)
    whole = "".join(pieces)
    assert (str(text), len(text)) == (whole, len(whole))
    assert text == StreamText(whole)
    assert hash(text) == hash(StreamText(whole))


def test_an_older_view_does_not_see_what_is_appended_later() -> None:
    first = StreamText("a")
    second = first.append("b")
    third = first.append("c")
    assert [str(first), str(second), str(third)] == ["a", "ab", "ac"]
    assert second.continues(first)
    assert not third.continues(second)


def test_new_pieces_are_told_from_old_ones() -> None:
    old = StreamText("a").append("b")
    new = old.append("c").append("d")
    assert list(new.pieces_from(old.piece_count)) == ["c", "d"]


def test_appending_nothing_is_the_same_text() -> None:
    text = StreamText("a")
    assert text.append("") is text


def test_a_text_is_not_a_string() -> None:
    assert StreamText("a") != "a"
    assert repr(StreamText("a")) == "StreamText('a', 1 characters)"
