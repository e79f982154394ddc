"""Every text of several lines takes emoji and joined words whole, not the composer alone."""

from __future__ import annotations

import pytest
from textual import events

from groupx_tui.screens.remember import LineEditor
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@pytest.mark.parametrize("word", ["👩‍💻", "می\u200cخواهم"])
async def test_what_is_to_be_remembered_keeps_its_joiners(word: str) -> None:
    async with open_window() as window:
        await window.press("f9", "f2")
        area = window.top.query_one(LineEditor)
        area.focus()
        for character in word:
            window.app.post_message(events.Key(character, character))
        await window.settle()
        assert area.text == word


async def test_the_caret_steps_over_an_emoji_in_what_is_to_be_remembered() -> None:
    async with open_window() as window:
        await window.press("f9", "f2")
        area = window.top.query_one(LineEditor)
        area.focus()
        area.insert("a👩‍💻")
        await window.press("left")
        assert area.cursor_location == (0, 1)
        await window.press("delete")
        assert area.text == "a"
