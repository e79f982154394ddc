"""Limits in the window: shown with what they mean, checked at the field, set by the command."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from groupx_shared.settings import Config
from groupx_shared.settingslist import knobs
from groupx_tui.cli.config import as_json
from groupx_tui.handlers.limits import knobs_of, wrong
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.setting import AskSetting
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Most open a window."""


def printed(**values: int) -> str:
    """What `groupx config list --json` prints, with some other values."""
    found = [replace(k, value=values.get(k.key.split(".")[-1], k.value)) for k in knobs(Config())]
    return json.dumps({"configPath": "x", "settings": [as_json(knob) for knob in found]}) + "\n"


async def open_limits(window: Window) -> None:
    window.commands.prints = printed(queuePerAgent=5)
    await window.type("/limits")
    await window.press("enter")


def test_what_the_command_prints_is_understood_whole() -> None:
    assert knobs_of(printed()) == knobs(Config())
    assert knobs_of("groupx.json: limits.x: no such key.") == []


def test_a_wrong_value_is_named_without_the_key() -> None:
    knob = next(knob for knob in knobs(Config()) if knob.key == "limits.hopCount")
    assert wrong(knob, "0") == "expected a whole number from 1 to 1,000; found “0”."
    assert wrong(knob, "7") == ""


@does("setup.limits")
async def test_limits_are_shown_with_what_they_are_and_mean() -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window)
        text = window.screen_text()
        for part in ("● queuePerAgent", "Turns waiting or running", "↻ Live frames", "131,072"):
            assert part in text
        await window.type("handshake")
        assert "From an agent's start" in window.screen_text()


async def test_one_is_changed_once_it_fits() -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window)
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
        asked = window.commands.asked
        assert asked[1:] == [("config", "set", "limits.hopCount=12"), ("config", "list", "--json")]
        assert isinstance(window.top, Chooser)


async def test_what_counts_later_says_so_and_the_default_comes_back() -> None:
    async with open_window(size=(120, 30)) as window:
        await open_limits(window)
        await window.type("sseBytes")
        await window.press("enter")
        assert "groupx restart" in window.screen_text()
        await window.press("escape", "f8")
        assert window.commands.asked[1] == ("config", "set", "limits.sseBytes=")


async def test_settings_that_cannot_be_read_say_why() -> None:
    async with open_window() as window:
        window.commands.prints = "groupx.json: limits.x: no such key.\n"
        await window.type("/limits")
        await window.press("enter")
        assert window.toasts[-1] == "groupx.json: limits.x: no such key."
