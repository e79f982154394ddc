"""The terminal's cursor is where the keyboard writes: an input method shows its offers there."""

from __future__ import annotations

import pytest
from textual.geometry import Offset

from groupx_tui.state.model import UpkeepView
from groupx_tui.widgets.composer.lines import Reply
from support.fake_session import YOU
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def drawn(window: Window) -> Offset:
    """Where the caret of what has the keyboard is drawn."""
    focused = window.top.focused
    assert focused is not None
    offset: Offset = focused.cursor_screen_offset  # type: ignore[attr-defined]
    return offset


@pytest.mark.parametrize("key", ["ctrl+o", "ctrl+p", "f3", "ctrl+f"])
async def test_the_terminals_cursor_goes_with_the_keyboard(key: str) -> None:
    async with open_window() as window:
        await window.type("hi 你好")
        written = Offset(3 + 3 + 4, 22)
        assert window.app.cursor_position == written
        await window.press(key)
        in_dialog = window.app.cursor_position
        assert in_dialog == drawn(window)
        assert in_dialog.y not in (0, 22)
        await window.press("a")
        assert window.app.cursor_position == drawn(window)
        assert window.app.cursor_position.x == in_dialog.x + 1
        await window.press("escape")
        assert window.app.cursor_position == written


async def test_a_line_that_opens_above_the_text_takes_the_cursor_along() -> None:
    upkeep = UpkeepView(
        "op_1", "started", "summary", 1, 1, 9, 9_000, 0, "Codex", 1, None, None, False, ""
    )
    async with open_window() as window:
        await window.type("hi")
        window.app.room.composer.set_reply(Reply("evt_1", YOU, "the question"))
        await window.settle()
        assert window.app.cursor_position == drawn(window) == Offset(5, 22)
        window.session.push(upkeep=upkeep)
        await window.settle()
        assert window.app.cursor_position == drawn(window)


async def test_another_size_takes_the_cursor_along() -> None:
    async with open_window() as window:
        await window.type("hi 你好")
        await window.pilot.resize_terminal(120, 40)
        await window.settle()
        assert window.app.cursor_position == drawn(window) == Offset(3 + 3 + 4, 38)
