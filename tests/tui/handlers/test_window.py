"""Palette, help, themes, interrupting and closing."""

from __future__ import annotations

import pytest

from groupx_shared.paths import user_state_folder
from groupx_tui.actions import ACTIONS
from groupx_tui.preferences import PreferenceFile
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.reader import Reader
from groupx_tui.state.model import ClientView
from support.does import does
from support.fake_session import FakeSession
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


async def test_every_action_of_the_table_has_a_handler() -> None:
    async with open_window() as window:
        for action_id in ACTIONS:
            assert callable(window.app.handlers.find(action_id)), action_id


@does("app.palette")
async def test_the_palette_finds_and_does_anything() -> None:
    async with open_window() as window:
        await window.press("ctrl+p")
        await window.type("next room")
        await window.press("enter")
        assert window.asked("switch_room") == [("switch_room", "room:ideas")]
        assert not window.has_dialog


async def test_the_palette_says_so_when_nothing_is_found() -> None:
    async with open_window() as window:
        await window.press("ctrl+p")
        await window.type("zzzz")
        assert "Nothing like that." in window.screen_text()
        await window.press("enter")
        assert isinstance(window.top, Chooser)
        await window.press("ctrl+c")
        assert not window.has_dialog


@does("app.help", "dialog.page_down", "dialog.page_up", "dialog.close")
async def test_the_help_begins_with_the_place_one_is_in() -> None:
    async with open_window() as window:
        await window.press("escape", "f1")
        assert isinstance(window.top, Reader)
        assert "Reading (here)" in window.screen_text()
        await window.press("pagedown")
        assert "Reading (here)" not in window.screen_text()
        await window.press("pageup", "escape")
        assert not window.has_dialog


@does("app.theme", "dialog.down", "dialog.close")
async def test_a_theme_shows_while_it_is_chosen_and_escape_brings_the_old_one_back() -> None:
    async with open_window() as window:
        await window.type("/theme")
        await window.press("enter")
        await window.press("down")
        assert window.app.theme != "groupx-dark"
        await window.press("escape")
        assert window.app.theme == "groupx-dark"
        assert PreferenceFile(user_state_folder()).load().theme is None


async def test_a_chosen_theme_is_kept() -> None:
    async with open_window() as window:
        await window.type("/theme")
        await window.press("enter")
        await window.type("nord")
        await window.press("enter")
        assert window.app.theme == "nord"
    assert PreferenceFile(user_state_folder()).load().theme == "nord"


async def test_a_theme_is_taken_by_name_or_answered_with_the_nearest() -> None:
    async with open_window() as window:
        await window.type("/theme mono")
        await window.press("enter")
        assert window.app.theme == "mono"
        await window.type("/theme nrod")
        await window.press("enter")
        assert "“nord”" in window.toasts[-1]
        assert window.app.theme == "mono"


@does("app.interrupt")
async def test_ctrl_c_clears_first_and_closes_only_when_pressed_twice() -> None:
    async with open_window() as window:
        await window.type("some text")
        await window.press("ctrl+c")
        assert window.text == ""
        assert "Cleared" in window.screen_text()
        await window.press("ctrl+c")
        assert "ctrl+c again closes this window" in window.screen_text()
        assert window.app.return_code is None
        await window.press("up")
        assert window.text == "some text"
        await window.press("ctrl+c", "ctrl+c", "ctrl+c")
    assert window.app.return_code == 0


async def test_ctrl_c_twice_with_something_between_does_not_close() -> None:
    async with open_window() as window:
        await window.press("ctrl+c", "a", "backspace", "ctrl+c")
        assert window.app.return_code is None
        assert window.session.is_closed is False


async def test_ctrl_c_copies_a_selection_and_clears_nothing() -> None:
    async with open_window() as window:
        await window.type("word")
        await window.press("f7", "ctrl+c")
        assert window.text == "word"
        assert window.app.clipboard == "word"


async def test_ctrl_c_closes_the_list_of_candidates_first() -> None:
    async with open_window() as window:
        await window.type("@")
        await window.press("ctrl+c")
        assert window.text == "@"
        assert not window.is_completing()


@does("app.quit")
async def test_quit_is_a_word_too() -> None:
    async with open_window() as window:
        await window.type("/quit")
        await window.press("enter")
    assert window.app.return_code == 0


@does("server.start")
async def test_start_starts_the_server_only_when_it_is_gone() -> None:
    starts: list[int] = []

    def start() -> None:
        starts.append(1)

    session = FakeSession(ClientView(connection="offline"))
    async with open_window(session, start_server=start) as window:
        await session.started.wait()
        await window.settle()
        await window.type("/start")
        await window.press("enter")
        await window.until(lambda: bool(window.asked("hurry")))
        assert (len(starts), session.runs) == (2, 1)
        await window.press("f5")
        await window.until(lambda: len(window.asked("hurry")) == 2)
        assert (len(starts), session.runs) == (3, 1)
        session.push(connection="live")
        await window.type("/start")
        await window.press("enter")
        assert len(starts) == 3
        assert "running" in window.toasts[-1]


@does("server.reconnect")
async def test_reconnecting_does_not_wait_for_the_next_try() -> None:
    session = FakeSession(ClientView(connection="reconnecting"))
    async with open_window(session) as window:
        await window.type("/reconnect")
        await window.press("enter")
        assert len(window.asked("hurry")) == 1
        session.push(connection="live")
        await window.type("/reconnect")
        await window.press("enter")
        assert len(window.asked("hurry")) == 1
        assert "there already" in window.toasts[-1]


@pytest.mark.parametrize(("key", "does_id"), [("ctrl+l", "app.redraw"), ("ctrl+z", "app.suspend")])
async def test_redrawing_and_suspending_do_no_harm_where_they_cannot_work(
    key: str, does_id: str
) -> None:
    async with open_window() as window:
        await window.type("text")
        await window.press(key)
        assert window.text == "text"
        assert "text" in window.screen_text()


@does("app.mouse")
async def test_the_mouse_is_left_to_the_terminal_and_taken_again() -> None:
    async with open_window() as window:
        for word, is_on in (("/mouse off", False), ("/mouse", True), ("/mouse off", False)):
            await window.type(word)
            await window.press("enter")
            assert window.app.preferences.chosen.mouse is is_on
        assert "left to the terminal" in window.toasts[-1]
    kept = PreferenceFile(user_state_folder())
    assert kept.load().mouse is False
