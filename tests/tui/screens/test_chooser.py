"""Lists to choose from: columns, marks, and what a mouse does."""

from __future__ import annotations

import pytest

from groupx_tui.keymap import DEFAULT_KEYS
from groupx_tui.screens.chooser import Choice, Chooser, choice_line
from support.window import open_window

CHOICES = [Choice(f"key{n}", f"Label {n}", f"about {n}", f"r{n}") for n in range(40)]


def test_a_line_keeps_its_right_end_when_it_is_narrow() -> None:
    line = choice_line(
        Choice("k", "Label", "a long detail " * 5, "ctrl+x"), 40, 10, is_marked=False
    )
    assert line.cell_length == 40
    assert line.plain.endswith("… ctrl+x")
    assert choice_line(CHOICES[0], 60, 24, is_marked=True).plain.startswith("› Label 0")


@pytest.mark.slow
async def test_a_long_list_scrolls_with_its_mark() -> None:
    chosen: list[str | None] = []
    marked: list[str] = []
    async with open_window() as window:
        chooser = Chooser(DEFAULT_KEYS, "Pick", CHOICES, marked="key3", on_mark=marked.append)
        window.app.push_screen(chooser, chosen.append)
        await window.settle()
        await window.press("pagedown", "pagedown", "down")
        assert "› Label 32" in window.screen_text()
        await window.press("pagedown", "pagedown", "down")
        assert "› Label 0" in window.screen_text()
        await window.press("up", "pageup", "ctrl+n", "ctrl+p", "enter")
    assert marked[-1] == chosen[0] == "key25"


@pytest.mark.slow
async def test_a_click_chooses_and_the_wheel_marks() -> None:
    chosen: list[str | None] = []
    async with open_window() as window:
        window.app.push_screen(Chooser(DEFAULT_KEYS, "Pick", CHOICES), chosen.append)
        await window.settle()
        chooser = window.top
        assert isinstance(chooser, Chooser)
        chooser.list.on_mouse_scroll_down()
        chooser.list.on_mouse_scroll_down()
        chooser.list.on_mouse_scroll_up()
        assert chooser.list.marked is CHOICES[1]
        await window.pilot.click("ChoiceList", offset=(3, 4))
        await window.settle()
    assert chosen == ["key4"]


@pytest.mark.slow
async def test_the_filter_keeps_what_fits_best_first() -> None:
    async with open_window() as window:
        window.app.push_screen(Chooser(DEFAULT_KEYS, "Pick", CHOICES))
        await window.settle()
        await window.type("label 7")
        assert "› Label 7" in window.screen_text()
        assert "Label 8" not in window.screen_text()
