"""All dialogs: Escape and ctrl+c close them, keys of the room do nothing behind them."""

from __future__ import annotations

import pytest
from textual.containers import VerticalScroll
from textual.widgets import Input

from groupx_tui.keymap import DEFAULT_KEYS
from groupx_tui.screens.ask import MAX_TITLE, Ask
from groupx_tui.screens.confirm import Confirm
from groupx_tui.screens.trouble import Trouble
from support.does import does
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_dialog_is_closed_without_a_choice(key: str) -> None:
    answers: list[bool | None] = []
    async with open_window() as window:
        window.app.push_screen(Confirm(DEFAULT_KEYS, "Sure?", "Text", "do it"), answers.append)
        await window.settle()
        await window.press(key)
        assert not window.has_dialog
    assert answers == [None]


@does("dialog.delete_or_close")
async def test_ctrl_d_deletes_what_is_after_while_something_is_written() -> None:
    async with open_window() as window:
        window.app.push_screen(Ask(DEFAULT_KEYS, "Title", "ab"))
        await window.settle()
        await window.press("home", "ctrl+d")
        assert window.app.screen.query_one(Input).value == "b"
        await window.press("end", "ctrl+d")
        assert window.app.screen.query_one(Input).value == "b"


async def test_ctrl_d_closes_a_field_or_a_list_in_which_nothing_is_written() -> None:
    async with open_window() as window:
        await window.press("ctrl+p", "a", "backspace", "ctrl+d")
        assert not window.has_dialog


async def test_ctrl_d_reads_on_and_closes_at_the_end() -> None:
    async with open_window() as window:
        await window.press("f1", "ctrl+d")
        assert window.top.query_one(VerticalScroll).scroll_offset.y > 0
        for _ in range(40):
            await window.press("ctrl+d")
            if not window.has_dialog:
                break
        assert not window.has_dialog


async def test_keys_of_the_room_do_nothing_behind_a_dialog() -> None:
    async with open_window() as window:
        window.app.push_screen(Confirm(DEFAULT_KEYS, "Sure?", "[b]Text[/b]", "do it"))
        await window.settle()
        assert "[b]Text[/b]" in window.screen_text()
        await window.press("alt+down", "ctrl+o", "x")
        assert window.asked("switch_room") == []
        assert window.text == ""


async def test_a_title_has_at_most_the_characters_that_the_server_takes() -> None:
    answers: list[str | None] = []
    async with open_window() as window:
        window.app.push_screen(Ask(DEFAULT_KEYS, "Title", "x" * MAX_TITLE), answers.append)
        await window.settle()
        await window.press("y", "enter")
    assert answers == ["x" * MAX_TITLE]


async def test_a_long_trouble_is_bounded_and_can_be_copied() -> None:
    async with open_window() as window:
        window.app.push_screen(Trouble(DEFAULT_KEYS, "line \x1b[2J\n" * 1000))
        await window.settle()
        assert "try again" in window.screen_text()
        await window.press("ctrl+y")
        assert len(window.app.clipboard) == 4000
        assert "\x1b" not in window.app.clipboard
