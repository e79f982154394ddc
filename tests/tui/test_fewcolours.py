"""Themes in 16 colours: every theme keeps its hues, and its states are told apart."""

from __future__ import annotations

import pytest
from textual.color import Color

from groupx_tui.fewcolours import in_few_colours
from groupx_tui.theme import ThemeFile, own_themes, to_textual
from support.window import open_window

OWN = own_themes()
COLOURED = [name for name in OWN if name not in ("mono", "terminal")]


@pytest.mark.parametrize("name", OWN)
def test_every_theme_can_be_drawn_in_them_on_the_terminals_own_ground(name: str) -> None:
    drawn = to_textual(in_few_colours(OWN[name]))
    assert drawn.ansi
    assert drawn.background == drawn.foreground == "ansi_default"
    for colour in (drawn.primary, drawn.accent, drawn.success, drawn.warning, drawn.error):
        assert colour is not None
        assert Color.parse(colour).ansi is not None, colour


@pytest.mark.parametrize("name", COLOURED)
def test_done_waiting_and_failed_are_told_apart(name: str) -> None:
    colors = in_few_colours(OWN[name]).colors
    assert len({colors[key] for key in ("success", "warning", "error")}) == 3
    assert colors["error"] not in (colors["primary"], colors["accent"])
    assert "ansi_default" not in {colors[key] for key in ("success", "warning", "error")}


@pytest.mark.parametrize("name", COLOURED)
def test_what_is_light_is_not_drawn_on_a_light_ground(name: str) -> None:
    colors = in_few_colours(OWN[name]).colors.values()
    if OWN[name].dark:
        assert all("bright" in colour or colour == "ansi_default" for colour in colors)
    else:
        assert not any("bright" in colour or "yellow" in colour for colour in colors)


def test_greys_stay_the_terminals_own() -> None:
    drawn = in_few_colours(OWN["mono"])
    assert set(drawn.colors.values()) == {"ansi_default"}


def test_hues_stay() -> None:
    assert in_few_colours(OWN["groupx-dark"]).colors == {
        "primary": "ansi_bright_blue",
        "secondary": "ansi_bright_blue",
        "accent": "ansi_bright_yellow",
        "success": "ansi_bright_green",
        "warning": "ansi_bright_yellow",
        "error": "ansi_bright_red",
    }


async def test_a_theme_that_is_edited_stays_in_few_colours() -> None:
    async with open_window() as window:
        app = window.app
        app.draw_in_few_colours()
        app.theme = "nord"
        await window.settle()
        assert app.current_theme.ansi
        assert app.drawn(ThemeFile("mine", "Mine", True, OWN["nord"].colors)).ansi
