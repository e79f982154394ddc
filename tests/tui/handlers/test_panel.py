"""The side panel: there when there is room, or when it is wanted."""

from __future__ import annotations

import pytest

from groupx_shared.paths import user_state_folder
from groupx_tui.preferences import PreferenceFile
from support.does import does
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


async def test_it_folds_away_below_a_hundred_columns() -> None:
    async with open_window(size=(99, 30)) as window:
        assert not window.shows_panel()
        await window.pilot.resize_terminal(100, 30)
        await window.settle()
        assert window.shows_panel()
        assert "Work on the parser" in window.screen_text()


@does("panel.toggle")
async def test_a_key_shows_it_and_that_is_remembered() -> None:
    async with open_window() as window:
        await window.press("f2")
        assert window.shows_panel()
    assert PreferenceFile(user_state_folder()).load().panel is True
    async with open_window() as window:
        assert window.shows_panel()
        await window.press("f2")
        assert not window.shows_panel()


async def test_folding_it_away_gives_the_keyboard_back() -> None:
    async with open_window(size=(120, 30)) as window:
        await window.press("tab", "tab")
        assert window.place() == "panel"
        await window.press("f2")
        assert window.place() == "composer"


@does("panel.open", "panel.down", "focus.previous")
async def test_rooms_and_agents_are_chosen_with_the_arrows() -> None:
    async with open_window(size=(120, 30)) as window:
        await window.press("shift+tab", "down", "enter")
        assert window.asked("switch_room") == [("switch_room", "room:ideas")]
        await window.press("shift+tab", "down", "down", "down", "enter")
        assert window.text == "@codex "
        assert window.place() == "composer"


@does("focus.next", "focus.previous")
async def test_the_parts_of_the_window_go_round_both_ways() -> None:
    async with open_window(size=(120, 30)) as window:
        places = []
        for key in ("tab", "tab", "tab", "shift+tab", "shift+tab"):
            await window.press(key)
            places.append(window.place())
        assert places == ["timeline", "panel", "composer", "panel", "timeline"]


@does("panel.up", "panel.leave")
async def test_escape_and_up_in_the_panel() -> None:
    async with open_window(size=(120, 30)) as window:
        await window.press("shift+tab", "up", "up", "escape")
        assert window.place() == "composer"
        assert window.asked("switch_room") == []
