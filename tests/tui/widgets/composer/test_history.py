"""The input history: up goes back, down comes forth, and the unsent text is never lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.widgets.composer.history import MAX_ENTRIES, InputHistory


def test_up_and_down_walk_and_return_to_what_was_being_written() -> None:
    history = InputHistory()
    history.add("one")
    history.add("two")
    assert history.previous("dra") == "two"
    assert history.previous("two") == "one"
    assert history.previous("one") is None
    assert history.next() == "two"
    assert history.next() == "dra"
    assert history.next() is None


def test_blank_and_repeated_texts_are_not_kept() -> None:
    history = InputHistory()
    for text in ("a", "a", " ", "", "b"):
        history.add(text)
    assert history.entries == ["a", "b"]


def test_an_edited_text_starts_anew_from_the_newest() -> None:
    history = InputHistory(["a", "b"])
    history.previous("")
    history.previous("b")
    history.leave()
    assert history.previous("edited") == "b"
    assert history.next() == "edited"


def test_the_history_has_a_limit() -> None:
    history = InputHistory()
    for number in range(MAX_ENTRIES + 10):
        history.add(str(number))
    assert len(history.entries) == MAX_ENTRIES
    assert history.entries[-1] == str(MAX_ENTRIES + 9)


@given(st.lists(st.text(min_size=1)), st.lists(st.booleans()), st.text())
def test_coming_back_always_gives_the_unsent_text(
    sent: list[str], steps: list[bool], unsent: str
) -> None:
    history, shown = InputHistory(), unsent
    for text in sent:
        history.add(text)
    for is_up in steps:
        found = history.previous(shown) if is_up else history.next()
        shown = shown if found is None else found
    while (found := history.next()) is not None:
        shown = found
    assert shown == unsent
