"""Themes of one's own: edited while they are drawn, seen at once, mistakes told once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupx_shared.paths import user_themes_folder
from groupx_tui.theme import COLORS
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def write(background: str, name: str = "mine") -> Path:
    """Save a theme; each time at another moment, as people do."""
    path = user_themes_folder() / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    colors = dict.fromkeys(COLORS, "#ffffff") | {"background": background}
    lines = [f'{key} = "{value}"' for key, value in colors.items()]
    path.write_text("\n".join(["dark = true", "[colors]", *lines]))
    moment = path.stat().st_mtime_ns + len(background) * 1_000_000_000
    os.utime(path, ns=(moment, moment))
    return path


def ground(window: Window) -> str:
    """What is behind everything."""
    return window.app.screen.styles.background.hex.lower()


def followed(window: Window) -> bool:
    """Whether a timer looks at a file."""
    return window.app.handlers.themes.is_following


async def use(window: Window, name: str) -> None:
    await window.type(f"/theme {name}")
    await window.press("enter")
    window.app.draw_view()
    await window.settle()


async def test_a_new_file_is_found_by_the_word_and_followed_while_it_is_drawn() -> None:
    async with open_window() as window:
        assert not followed(window)
        write("#102030")
        await use(window, "mine")
        assert ground(window) == "#102030"
        assert followed(window)
        await use(window, "nord")
        assert not followed(window)


async def test_what_is_saved_is_seen() -> None:
    async with open_window() as window:
        write("#102030")
        await use(window, "mine")
        write("#405060 ".strip() + "ff")
        window.app.handlers.themes.check()
        await window.settle()
        assert ground(window).startswith("#405060")
        assert window.app.theme == "mine"


async def test_a_mistake_is_told_once_and_the_theme_stays() -> None:
    async with open_window() as window:
        path = write("#102030")
        await use(window, "mine")
        count = len(window.toasts)
        write("no colour")
        for _ in range(2):
            window.app.handlers.themes.check()
        window.app.handlers.themes.read()
        await window.settle()
        assert len(window.toasts) == count + 1
        assert str(path) in window.toasts[-1]
        assert "colors.background" in window.toasts[-1]
        assert "stays as it was" in window.toasts[-1]
        assert ground(window) == "#102030"


async def test_a_file_that_goes_away_leaves_the_theme() -> None:
    async with open_window() as window:
        path = write("#102030")
        await use(window, "mine")
        path.unlink()
        window.app.handlers.themes.check()
        window.app.handlers.themes.read()
        await window.settle()
        assert ground(window) == "#102030"
