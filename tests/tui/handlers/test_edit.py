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
    ("keys", "text"),
    [
        (["left", "x"], "one twxo"),
        (["ctrl+left", "x"], "one xtwo"),
        (["home", "x"], "xone two"),
        (["ctrl+a", "x", "ctrl+e", "y"], "xone twoy"),
        (["ctrl+w"], "one "),
        (["backspace"], "one tw"),
        (["home", "delete"], "ne two"),
        (["ctrl+u"], ""),
        (["home", "ctrl+k"], ""),
        (["shift+left", "shift+left", "x"], "one tx"),
        (["f7", "x"], "x"),
        (["f7", "ctrl+x"], ""),
        (["f7", "ctrl+x", "ctrl+v", "ctrl+v"], "one twoone two"),
        (["ctrl+u", "ctrl+underscore"], "one two"),
        (["ctrl+u", "ctrl+underscore", "ctrl+y"], ""),
    ],
)
async def test_editing_keys_do_what_the_table_says(keys: list[str], text: str) -> None:
    async with open_window() as window:
        await window.type("one two")
        await window.press(*keys)
        assert window.text == text
