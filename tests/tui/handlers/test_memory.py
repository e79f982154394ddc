"""Memory in the window: read, add, correct, pin, take back, go to where it comes from."""

from __future__ import annotations

import pytest

from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.reader import Reader
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def asked(window: Window, what: str) -> list[tuple[object, ...]]:
    return [each for each in window.session.memory.asked if each[0] == what]


@does("memory.browse")
async def test_what_is_remembered_is_listed_with_whose_and_by_whom() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f9")
        assert isinstance(window.top, Chooser)
        text = window.screen_text()
        assert "Memory · 3 · what counts now" in text
        assert "decision · Main" in text
        assert "● fact · Main" in text
        assert "Codex 2026-11-30" in text
        await window.type("short")
        assert "The parser keeps" not in window.screen_text()


async def test_the_word_opens_it_and_one_record_is_shown_whole() -> None:
    async with open_window() as window:
        await window.type("/memory")
        await window.press("enter", "enter")
        assert isinstance(window.top, Reader)
        text = window.screen_text()
        for part in ("The parser keeps the last line", "told to agents", "mem_3", "Codex"):
            assert part in text


@does("dialog.add")
async def test_something_is_remembered_for_the_room() -> None:
    async with open_window() as window:
        await window.press("f9", "f2")
        await window.type("One thing")
        await window.press("ctrl+j")
        await window.type("and another")
        await window.press("enter")
        wanted = [("remember", "room:main", "note", "One thing\nand another")]
        assert asked(window, "remember") == wanted
        assert isinstance(window.top, Chooser)
        assert "Memory · 4" in window.screen_text()


@does("dialog.correct")
async def test_a_record_is_corrected_from_the_list_and_from_its_page() -> None:
    async with open_window() as window:
        await window.press("f9", "f7")
        await window.type(" now")
        await window.press("enter")
        assert asked(window, "correct") == [
            ("correct", "mem_3", "The parser keeps the last line now")
        ]
        await window.press("enter", "f7", "escape")
        assert len(asked(window, "correct")) == 1


@does("dialog.pin", "dialog.retract")
async def test_a_record_is_pinned_and_taken_back() -> None:
    async with open_window() as window:
        await window.press("f9", "f6")
        assert asked(window, "pin") == [("pin", "mem_3", True)]
        assert "● decision" in window.screen_text()
        await window.press("f6", "f8")
        assert asked(window, "pin")[1:] == [("pin", "mem_3", False)]
        assert asked(window, "retract") == [("retract", "mem_3")]
        assert "The parser keeps" not in window.screen_text()


@does("dialog.history")
async def test_the_history_of_all_and_of_one_with_what_changed() -> None:
    async with open_window() as window:
        await window.press("f9", "f8", "f4")
        assert "with what was corrected and taken back" in window.screen_text()
        assert "✗ decision" in window.screen_text()
        await window.press("f4", "enter", "f4")
        assert "How it came about" in window.screen_text()
        assert "[-" in window.screen_text()
        assert "{+" in window.screen_text()


@does("dialog.source")
async def test_one_goes_to_the_message_that_a_record_comes_from() -> None:
    async with open_window() as window:
        await window.press("f9", "enter", "f5")
        assert not window.has_dialog
        assert window.asked("jump_to_event") == [("jump_to_event", "evt_1")]
        assert window.app.room.timeline.current_block_id == "msg:evt_1"


async def test_what_cannot_be_done_with_a_record_is_not_offered() -> None:
    async with open_window() as window:
        await window.press("f9")
        await window.type("short")
        await window.press("enter", "f5")
        assert isinstance(window.top, Reader)
        assert "f5 source" not in window.screen_text()
