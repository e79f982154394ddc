"""Stopping turns, and what is shown of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_tui.screens.chooser import Chooser
from groupx_tui.state.model import ClientView, TimelineView, TurnBlock
from support.does import does
from support.fake_session import CODEX, GUIDE, FakeSession, sample_view, turn
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def running(*turns: TurnBlock) -> ClientView:
    agents = tuple(replace(agent, active_turn_id="turn_x") for agent in (GUIDE, CODEX))
    timeline = TimelineView("room:main", turns, 1, 5, total_messages=1)
    return replace(sample_view(), timeline=timeline, agents=agents)


async def test_the_only_running_turn_is_stopped_at_once() -> None:
    async with open_window(FakeSession(running(turn("turn_2", CODEX)))) as window:
        assert "ctrl+g stop" in window.screen_text()
        await window.press("ctrl+g")
        assert window.asked("cancel") == [("cancel", "turn_2")]


@does("turn.cancel", "dialog.up")
async def test_with_several_one_chooses_or_takes_all() -> None:
    view = running(turn("turn_2", CODEX), turn("turn_3", GUIDE))
    async with open_window(FakeSession(view)) as window:
        await window.press("ctrl+g")
        assert isinstance(window.top, Chooser)
        await window.press("down", "enter")
        assert window.asked("cancel") == [("cancel", "turn_3")]
        await window.press("ctrl+g", "up", "enter")
        assert window.asked("cancel")[1:] == [("cancel", "turn_2"), ("cancel", "turn_3")]


async def test_the_agent_is_named_after_the_slash_word() -> None:
    view = running(turn("turn_2", CODEX), turn("turn_3", GUIDE))
    async with open_window(FakeSession(view)) as window:
        await window.type("/cancel @guide")
        await window.press("enter")
        assert window.asked("cancel") == [("cancel", "turn_3")]


async def test_the_marked_turn_is_stopped_while_reading() -> None:
    view = running(turn("turn_2", CODEX, "text"), turn("turn_3", GUIDE, "text"))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "up", "ctrl+g")
        assert len(window.asked("cancel")) == 1
        assert not window.has_dialog


async def test_when_nothing_runs_that_is_said() -> None:
    async with open_window() as window:
        assert "ctrl+g" not in window.screen_text()
        await window.press("ctrl+g")
        assert "No agent works" in window.toasts[-1]


@does("turn.details")
async def test_details_tell_state_certainty_error_and_id_and_copy_the_id() -> None:
    ended = turn(
        "turn_2", CODEX, "half", order_seq=9, phase="interrupted", certainty="unknown",
        error_code="TURN_INTERRUPTED", error_message="The server ended.",
    )  # fmt: skip
    async with open_window(FakeSession(running(ended)), size=(100, 30)) as window:
        await window.press("escape", "d")
        shown = window.screen_text()
        for words in ("interrupted", "uncertain", "TURN_INTERRUPTED", "turn_2"):
            assert words in shown
        await window.press("ctrl+y")
        assert window.app.clipboard == "turn_2"


async def test_details_without_a_turn_say_so() -> None:
    view = replace(sample_view(), timeline=TimelineView("room:main"))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "d")
        assert "no turn" in window.toasts[-1]
