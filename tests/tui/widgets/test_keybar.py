"""The key line: true, clickable, and never cut in the middle of a word."""

from __future__ import annotations

import pytest

from groupx_tui.keymap import DEFAULT_KEYS, build_keymap
from groupx_tui.widgets.keybar import fitting, footer_actions
from support.fake_session import FakeSession, sample_view
from support.window import open_window


def words(width: int, *, is_running: bool = False) -> list[str]:
    actions = footer_actions("timeline", DEFAULT_KEYS, is_running=is_running)
    return [f"{keys} {action.footer}" for keys, action in fitting(actions, DEFAULT_KEYS, width)]


def test_neighbours_with_one_word_stand_together() -> None:
    assert words(200)[0] == "↑ ↓ select"


@pytest.mark.parametrize("width", range(20, 130, 7))
def test_it_fits_and_keeps_the_help(width: int) -> None:
    found = words(width, is_running=True)
    assert found[-1] == "f1 help"
    assert len(found) == 2 or len("   ".join(found)) <= width


def test_stopping_is_offered_only_while_something_runs() -> None:
    assert "ctrl+g stop" not in words(200)
    assert words(200, is_running=True)[0] == "ctrl+g stop"


def test_a_person_own_key_is_shown() -> None:
    keymap = build_keymap({"app.help": "f12"})
    actions = footer_actions("composer", keymap, is_running=False)
    assert ("f12", "help") in [(keys, a.footer) for keys, a in fitting(actions, keymap, 200)]


@pytest.mark.slow
async def test_what_is_clicked_is_done() -> None:
    async with open_window() as window:
        line = window.app.room.keybar.left_text
        await window.pilot.click("KeyBar", offset=(1 + line.index("f1"), 0))
        await window.settle()
        assert window.has_dialog


@pytest.mark.slow
async def test_the_line_follows_the_keyboard() -> None:
    async with open_window(FakeSession(sample_view())) as window:
        assert "enter send" in window.screen_text()
        await window.press("escape")
        assert "r reply" in window.screen_text()


@pytest.mark.slow
async def test_while_candidates_are_open_it_says_what_the_keys_do_to_them() -> None:
    async with open_window(FakeSession(sample_view())) as window:
        await window.type("@co")
        line = window.app.room.keybar.left_text
        assert line.startswith("enter take   esc close the list   ↑ ↓ mark")
        assert "send" not in line
        await window.press("escape")
        assert "enter send" in window.app.room.keybar.left_text


@pytest.mark.slow
async def test_a_candidate_that_is_typed_already_is_sent_by_enter_and_the_line_says_so() -> None:
    async with open_window(FakeSession(sample_view())) as window:
        await window.type("/re")
        assert "enter take" in window.app.room.keybar.left_text
        await window.type("start")
        assert window.app.room.keybar.left_text.startswith("enter send")
        await window.press("enter")
        assert window.has_dialog
