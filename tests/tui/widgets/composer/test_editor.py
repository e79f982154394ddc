"""The editor: its height, its caret for input methods, its cost with a long text."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual import events
from textual.geometry import Offset

from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


async def test_it_grows_to_a_third_of_the_screen_and_shrinks_again() -> None:
    async with open_window(size=(80, 30)) as window:
        editor = window.app.room.composer.editor
        await window.press(*["ctrl+j"] * 4)
        assert editor.size.height == 5
        await window.press(*["ctrl+j"] * 20)
        assert editor.size.height == 10
        await window.press("ctrl+c")
        assert editor.size.height == 1


async def test_the_terminals_cursor_is_where_the_caret_is() -> None:
    async with open_window(size=(80, 24)) as window:
        await window.type("hi 你好")
        assert window.app.cursor_position == Offset(3 + 3 + 4, 22)
        await window.press("ctrl+j", "x")
        assert window.app.cursor_position == Offset(4, 22)
        await window.press("up")
        assert window.app.cursor_position.y == 21


async def test_a_key_does_not_join_the_whole_text_for_each_line() -> None:
    async with open_window() as window:
        editor = window.app.room.composer.editor
        editor.load_text("word " * 20_000)
        await window.settle()
        joined: list[str] = []
        document = type(editor.document)
        original = document.text.fget  # type: ignore[attr-defined]

        def count(self: object) -> str:
            joined.append("x")
            return str(original(self))

        document.text = property(count)  # type: ignore[assignment, method-assign]
        try:
            await window.press("end", "x")
        finally:
            document.text = property(original)  # type: ignore[assignment, method-assign]
        assert len(joined) <= 2


async def test_undo_of_a_paste_that_scrolls_works() -> None:
    async with open_window() as window:
        editor = window.app.room.composer.editor
        editor.insert("line\n" * 200)
        await window.settle()
        await window.press("ctrl+underscore")
        assert editor.text == ""


EMOJI = ("❤️", "1️⃣", "🇩🇪", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈")


@pytest.mark.parametrize("emoji", EMOJI)
async def test_an_emoji_that_is_typed_is_the_same_emoji(emoji: str) -> None:
    async with open_window() as window:
        for character in f"a{emoji}b":
            window.app.post_message(events.Key(character, character))
        await window.settle()
        assert window.text == f"a{emoji}b"
        assert window.app.cursor_position == Offset(3 + 2 + cell_len(emoji), 22)


async def test_a_joiner_within_a_persian_word_is_written() -> None:
    async with open_window() as window:
        for character in "می\u200cخواهم":
            window.app.post_message(events.Key(character, character))
        await window.settle()
        assert window.text == "می\u200cخواهم"


async def test_the_caret_steps_over_an_emoji_at_once_and_takes_it_whole() -> None:
    async with open_window() as window:
        editor = window.app.room.composer.editor
        editor.insert("".join(EMOJI))
        await window.settle()
        await window.press(*["left"] * len(EMOJI))
        assert editor.cursor_location == (0, 0)
        for number in range(len(EMOJI)):
            assert editor.cursor_location[1] == len("".join(EMOJI[:number]))
            await window.press("right")
        await window.press("left", "backspace", "delete")
        assert window.text == "".join(EMOJI[:-2])
        await window.press("shift+left", "x")
        assert window.text == "".join(EMOJI[:-3]) + "x"


async def test_backspace_takes_the_mark_of_a_letter_alone() -> None:
    async with open_window() as window:
        window.app.room.composer.editor.insert("xe\u0301")
        await window.settle()
        await window.press("backspace")
        assert window.text == "xe"


@pytest.mark.parametrize("written", ["one line", "one\ntwo 👍🏽", "👨‍👩‍👧‍👦"])
async def test_the_last_line_is_cut_whole(written: str) -> None:
    async with open_window() as window:
        window.app.room.composer.editor.insert(written)
        await window.settle()
        await window.press("ctrl+x")
        assert window.text == written.rpartition("\n")[0] + "\n" * ("\n" in written)
        await window.press("ctrl+v", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+underscore", "delete")
