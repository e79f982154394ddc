"""Limits in the window: shown with what they mean, checked at the field, set by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_shared.settings import Config
from groupx_shared.settingslist import knobs
from groupx_tui.handlers.limits import wrong
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.setting import AskSetting
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Most open a window."""


CONFIG = '{"limits": {"queuePerAgent": 5}}'


def write(path: Path, text: str) -> None:
    """Put the settings there."""
    path.write_text(text)


async def open_limits(window: Window, path: Path, text: str = CONFIG) -> None:
    write(path, text)
    window.commands.config_path = path
    await window.type("/limits")
    await window.press("enter")


def test_a_wrong_value_is_named_without_the_key() -> None:
    knob = next(knob for knob in knobs(Config()) if knob.key == "limits.hopCount")
    assert wrong(knob, "0") == "expected a whole number from 1 to 1,000; found “0”."
    assert wrong(knob, "7") == ""


@does("setup.limits")
async def test_limits_are_shown_with_what_they_are_and_mean(tmp_path: Path) -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window, tmp_path / "groupx.json")
        text = window.screen_text()
        for part in ("● queuePerAgent", "Turns waiting or running", "↻ Live frames", "131,072"):
            assert part in text
        await window.type("handshake")
        assert "From an agent's start" in window.screen_text()


async def test_one_is_changed_once_it_fits(tmp_path: Path) -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window, tmp_path / "groupx.json")
        await window.type("hopCount")
        await window.press("enter")
        assert isinstance(window.top, AskSetting)
        assert "A whole number from 1 to 1,000; default 24. It counts at once" in (
            " ".join(window.screen_text().split())
        )
        await window.press("9", "9")
        assert "found “2499”" in window.screen_text()
        await window.press("enter")
        assert isinstance(window.top, AskSetting), "a wrong value is not taken"
        await window.press("ctrl+u")
        await window.type("12")
        await window.press("enter")
        assert window.commands.asked == [("config", "set", "limits.hopCount=12")]
        assert isinstance(window.top, Chooser)


async def test_what_counts_later_says_so_and_the_default_comes_back(tmp_path: Path) -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window, tmp_path / "groupx.json")
        await window.type("sseBytes")
        await window.press("enter")
        assert "groupx restart" in window.screen_text()
        await window.press("escape", "f8")
        assert window.commands.asked == [("config", "set", "limits.sseBytes=")]


async def test_the_list_shows_what_the_file_says_after_a_change(tmp_path: Path) -> None:
    path = tmp_path / "groupx.json"
    async with open_window(size=(120, 30)) as window:
        await open_limits(window, path)
        write(path, '{"limits": {"queuePerAgent": 7}}')  # as the command would
        await window.press("f8")
        assert "● queuePerAgent" in window.screen_text()
        assert " 7 " in window.screen_text()


@pytest.mark.parametrize(
    ("text", "said"), [("{", "not valid JSON"), ('{"limits": {"x": 1}}', "limits.x: no such key")]
)
async def test_settings_that_cannot_be_read_say_why(tmp_path: Path, text: str, said: str) -> None:
    async with open_window() as window:
        await open_limits(window, tmp_path / "groupx.json", text)
        assert said in window.toasts[-1]


async def test_those_of_a_server_elsewhere_are_not_here() -> None:
    async with open_window() as window:
        await window.type("/limits")
        await window.press("enter")
        assert "on its machine" in window.toasts[-1]
