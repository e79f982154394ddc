"""What is drawn can be read: WCAG 2 AA (4.5 : 1) for every text on every ground, in every theme.

Measured on the screen itself, not on the theme's file: a blend, a style sheet of a widget or a
highlight counts as it is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from textual.color import Color

from groupx_shared.wire.search import SearchReply
from groupx_tui.state.model import ClientView
from groupx_tui.theme import FEW_COLOURS_THEME, READABLE, contrast, own_themes
from support import timelines
from support.fake_session import CODEX, GUIDE, KIMI, OFF, FakeSession, hit, sample_view
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

DRAWN = set("─│╭╮╰╯┃▌▁▂▃▄▅▆▇█━┏┓┗┛╸╺▔▕▏▎┼┬┴├┤ ")
"""Lines, bars and borders: what they say is said by text too."""
THEMES = sorted(name for name, theme in own_themes().items() if not theme.ansi)


def unreadable(window: Window) -> Iterator[tuple[str, str, str, float]]:
    """The texts that have too little contrast: of the whole screen, or of the dialog over it, since
    what is behind a dialog is dimmed on purpose and cannot be used."""
    boxes = [box.region for box in window.app.screen.query(".dialog-box")]
    strips = window.app.screen._compositor.render_strips()
    for box in boxes:
        strips = [strip.crop(box.x, box.right) for strip in strips[box.y : box.bottom]]
    for strip in strips:
        for segment in strip:
            ratio = _ratio(segment)
            if ratio is not None and ratio < READABLE:
                style = segment.style
                assert style is not None
                yield segment.text.strip(), str(style.color), str(style.bgcolor), round(ratio, 2)


def _ratio(segment: Segment) -> float | None:
    style = segment.style
    if not set(segment.text) - DRAWN or style is None or not style.color or not style.bgcolor:
        return None
    return contrast(Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor))


def busy_view() -> ClientView:
    """Every kind of block, every state of an agent."""
    agents = (
        GUIDE,
        replace(CODEX, status="working", active_turn_id="t", queued_turns=2),
        replace(KIMI, status="failed"),
        replace(OFF, status="retrying"),
    )
    return replace(sample_view(), timeline=timelines.every_kind(), agents=agents)


@pytest.mark.parametrize("name", THEMES)
async def test_everything_on_the_screen_can_be_read(name: str) -> None:
    session = FakeSession(busy_view())
    session.found = SearchReply(hits=(hit(11, "docs", (0, 4)),))
    async with open_window(session, size=(120, 70)) as window:
        window.app.theme = name
        bad: list[tuple[str, tuple[str, str, str, float]]] = []

        async def look(where: str, *keys: str) -> None:
            await window.press(*keys)
            bad.extend((where, each) for each in unreadable(window))

        await look("writing")
        await look("candidates", "at")
        await look("a command", "ctrl+u", "escape", "i", "slash", "t")
        await look("reading", "ctrl+u", "escape", "escape", "+")
        await look("the cursor", "home", "down", "down", "down")
        await look("a search", "slash", "d", "o", "c", "s", "enter")
        await look("the palette", "ctrl+p", "r", "o")
        await look("the help", "escape", "f1")
        await look("details", "escape", "d")
        await look("a question", "escape", "/")
        session.push(connection="reconnecting", connection_detail="No answer.")
        window.app.tell("Something was done.")
        window.app.tell("Something is wrong.", "error")
        await look("the banner and toasts", "escape")
        assert bad == []


def in_sixteen_colours(window: Window) -> Iterator[tuple[str, int | None, int | None, bool]]:
    """Each text with the numbers of its colour and its ground in a terminal that has 16 (None: the
    terminal's own), and whether they are exchanged."""
    for strip in window.app.screen._compositor.render_strips():
        for segment in strip:
            style = segment.style
            if set(segment.text) - DRAWN and style is not None:
                colours = (style.color, style.bgcolor)
                numbers = [
                    None if each is None else each.downgrade(ColorSystem.STANDARD).number
                    for each in colours
                ]
                yield segment.text.strip(), numbers[0], numbers[1], bool(style.reverse)


async def test_where_colours_are_few_texts_stand_on_the_terminals_own_ground() -> None:
    """Which its 16 colours are nobody knows: only its own ground is sure to differ from text."""
    async with open_window(FakeSession(busy_view()), size=(120, 60)) as window:
        window.app.theme = FEW_COLOURS_THEME
        for keys, has_mark in (((), False), (("ctrl+p",), True), (("escape", "f9"), True)):
            await window.press(*keys)
            texts = list(in_sixteen_colours(window))
            on_other_ground = {
                (text, ground)
                for text, colour, ground, is_reverse in texts
                if ground is not None and (ground == colour or not is_reverse)
            }
            assert on_other_ground == set()
            assert has_mark <= any(is_reverse for *_, is_reverse in texts), "the mark is seen"
