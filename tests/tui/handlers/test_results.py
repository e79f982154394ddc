"""What takes a moment is shown at once only to whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from groupx_shared.errors import GroupXError
from groupx_tui.screens.reader import Reader
from groupx_tui.widgets import workbar
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


class Slow:
    """A command that ends when it is let go."""

    def __init__(self, window: Window) -> None:
        self.go = asyncio.Event()
        self.asked = 0
        self.error: GroupXError | None = None
        window.commands.run = self.run  # type: ignore[method-assign]

    async def run(self, words: Sequence[str]) -> str:
        self.asked += 1
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return f"what {words[0]} printed"


async def ask(window: Window, word: str = "/doctor") -> None:
    window.app.room.composer.replace_all(word)
    await window.pilot.press("enter")
    await window.pilot.pause()


async def test_it_is_said_at_once_and_shown_to_whoever_waits() -> None:
    async with open_window() as window:
        slow = Slow(window)
        await ask(window)
        assert "⟳ Doctor …" in window.screen_text()
        slow.go.set()
        await window.settle()
        assert isinstance(window.top, Reader)
        assert "⟳" not in window.screen_text()


@pytest.mark.parametrize("keys", [("h", "i"), ("escape",), ("ctrl+o",), ("f1",), ("alt+down",)])
async def test_who_went_on_is_left_alone_and_shown_it_when_asking_again(
    keys: tuple[str, ...],
) -> None:
    async with open_window() as window:
        slow = Slow(window)
        await ask(window)
        await window.pilot.press(*keys)
        await window.pilot.pause()
        before = window.top, window.text
        slow.go.set()
        await window.settle()
        assert (window.top, window.text) == before
        assert window.app.room.workbar.sentence == "✓ Doctor is ready · /doctor shows it"
        if window.has_dialog:
            await window.press("escape")
        window.app.room.composer.editor.focus()
        await ask(window)
        await window.settle()
        assert "what doctor printed" in window.screen_text()
        assert slow.asked == 1
        assert not window.app.room.workbar.display


async def test_it_is_not_looked_for_twice_at_once() -> None:
    async with open_window() as window:
        slow = Slow(window)
        await ask(window)
        await ask(window)
        slow.go.set()
        await window.settle()
        assert slow.asked == 1


async def test_several_things_are_looked_for_and_the_last_unread_one_is_offered() -> None:
    async with open_window() as window:
        slow = Slow(window)
        await ask(window)
        await ask(window, "/usage")
        assert window.app.room.workbar.sentence == "⟳ Tokens and cost …"
        await window.pilot.press("h")
        slow.go.set()
        await window.settle()
        assert window.app.room.workbar.sentence == "✓ Tokens and cost is ready · /usage shows it"
        assert window.text == "h"
        await ask(window)  # nobody offers it any more: it is asked anew
        await window.settle()
        assert slow.asked == 3


async def test_a_failure_is_told_and_ends_the_line() -> None:
    async with open_window() as window:
        slow = Slow(window)
        slow.error = GroupXError("It did not end in time.")
        await ask(window)
        slow.go.set()
        await window.settle()
        assert window.toasts == ["It did not end in time."]
        assert not window.app.room.workbar.display


async def test_what_nobody_wanted_to_see_is_offered_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workbar, "READY_S", 0.01)
    async with open_window() as window:
        slow = Slow(window)
        await ask(window)
        await window.pilot.press("h")
        slow.go.set()
        await window.until(lambda: not window.app.room.workbar.display)
        await ask(window)
        await window.settle()
        assert slow.asked == 2
