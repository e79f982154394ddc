"""A message is passed on with its author, here or in another room; one goes to what it answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_tui.screens.chooser import Chooser
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import AT, FakeSession, message, sample_view
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def bar(window: Window) -> str:
    return window.app.room.composer.reply_bar.left_text if shows_bar(window) else ""


def shows_bar(window: Window) -> bool:
    return bool(window.app.room.composer.reply_bar.display)


@does("block.forward")
async def test_an_answer_is_passed_on_to_another_room_with_a_word() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "up", "f")
        assert isinstance(window.top, Chooser)
        await window.type("ideas")
        await window.press("enter")
        assert window.session.view.room_id == "room:ideas"
        assert bar(window).startswith("» passes on Guide: I find, list and quote")
        await window.type("@codex what do you say")
        await window.press("enter")
        sent = window.asked("send")
        assert sent == [("send", "@codex what do you say", ("agent:codex",), None, "evt_3")]
        assert not shows_bar(window)


async def test_it_can_be_passed_on_in_this_room_without_a_word() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "f", "enter")
        assert bar(window).startswith("» passes on You: And who is @codex?")
        await window.press("enter")
        assert window.asked("send") == [("send", "", ("agent:guide",), None, "evt_5")]


async def test_escape_drops_what_was_to_be_passed_on() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "f", "enter", "escape")
        assert not shows_bar(window)
        await window.press("enter")
        assert window.asked("send") == []


@does("block.origin")
async def test_one_goes_to_what_a_message_passes_on_or_answers() -> None:
    passed_on = message(7, "> hello", forwarded="Kimi", forwarded_event_id="evt_1")
    view = replace(
        sample_view(),
        timeline=TimelineView("room:main", (message(1, "hello"), passed_on), 1, 7),
    )
    async with open_window(FakeSession(view)) as window:
        assert f"You · {AT[11:16]} · passes on what Kimi wrote" in window.screen_text()
        await window.press("escape", "up", "o")
        assert window.asked("jump_to_event") == [("jump_to_event", "evt_1")]
        assert window.app.room.timeline.current_block_id == "msg:evt_1"
        await window.press("o")
        assert "answers nothing" in window.toasts[-1]
