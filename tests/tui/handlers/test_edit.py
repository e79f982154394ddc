"""Editing keys: the text area's own, found through the table."""

from __future__ import annotations

import pytest

from groupx_tui.actions import ACTIONS
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

VERBS = [action.id for action in ACTIONS.values() if action.id.startswith("edit.")]


async def test_every_editing_verb_is_one_of_the_text_areas() -> None:
    async with open_window() as window:
        for action_id in VERBS:
            assert callable(window.app.handlers.find(action_id)), action_id


@pytest.mark.parametrize(
    ("does_id", "keys", "text"),
    [
        ("edit.cursor_left", ["left", "x"], "one twxo"),
        ("edit.cursor_right", ["home", "right", "x"], "oxne two"),
        ("edit.cursor_word_left", ["ctrl+left", "x"], "one xtwo"),
        ("edit.cursor_word_right", ["home", "ctrl+right", "x"], "onex two"),
        ("edit.cursor_line_start", ["home", "x"], "xone two"),
        ("edit.cursor_line_end", ["ctrl+a", "x", "ctrl+e", "y"], "xone twoy"),
        ("edit.delete_word_left", ["ctrl+w"], "one "),
        ("edit.delete_left", ["backspace"], "one tw"),
        ("edit.delete_right", ["home", "delete"], "ne two"),
        ("edit.delete_to_start_of_line", ["ctrl+u"], ""),
        ("edit.delete_to_end_of_line", ["home", "ctrl+k"], ""),
        ("edit.select_left", ["shift+left", "shift+left", "x"], "one tx"),
        ("edit.select_right", ["home", "shift+right", "x"], "xne two"),
        ("edit.select_up", ["ctrl+j", "a", "shift+up", "x"], "ox"),
        ("edit.select_down", ["ctrl+j", "a", "up", "home", "shift+down", "x"], "xa"),
        ("edit.select_all", ["f7", "x"], "x"),
        ("edit.cut", ["f7", "ctrl+x"], ""),
        ("edit.paste", ["f7", "ctrl+x", "ctrl+v", "ctrl+v"], "one twoone two"),
        ("edit.undo", ["ctrl+u", "ctrl+underscore"], "one two"),
        ("edit.redo", ["ctrl+u", "ctrl+underscore", "ctrl+y"], ""),
    ],
)
async def test_editing_keys_do_what_the_table_says(
    does_id: str, keys: list[str], text: str
) -> None:
    async with open_window() as window:
        await window.type("one two")
        await window.press(*keys)
        assert window.text == text
