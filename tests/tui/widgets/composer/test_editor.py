"""The editor: its height, its caret for input methods, its cost with a long text."""

from __future__ import annotations

import pytest
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
