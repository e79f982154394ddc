"""The marked block: replying, loading all of it, its details."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_tui.handlers.block import reply_to
from groupx_tui.state.model import NoticeBlock, TimelineView
from groupx_tui.widgets.timeline.messages import BlockActivated, CopyRequested
from support.does import does
from support.fake_session import AT, CODEX, FakeSession, message, sample_view, turn
from support.window import open_window

ANSWER = turn(
    "turn_1", CODEX, "the answer", order_seq=4, phase="completed", response_event_id="evt_3"
)

pytestmark = pytest.mark.slow
"""Each opens a window."""


@does("block.reply")
async def test_a_reply_goes_to_the_author_and_can_be_dropped() -> None:
    view = replace(sample_view(), timeline=TimelineView("room:main", (ANSWER,), 1, 4))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "r")
        assert window.place() == "composer"
        assert "→ Codex (reply)" in window.screen_text()
        await window.press("escape")
        assert "→ Guide" in window.screen_text()
        await window.press("escape", "r")
        await window.type("why")
        await window.press("enter")
        assert window.asked("send") == [("send", "why", ("agent:codex",), "evt_3")]
        assert "(reply)" not in window.screen_text()


async def test_a_reply_without_a_message_says_what_to_do() -> None:
    view = replace(sample_view(), timeline=TimelineView("room:main"))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "r")
        assert "Mark a message" in window.toasts[-1]


def test_only_what_is_on_disk_can_be_replied_to() -> None:
    assert reply_to(message(3, "x")) is not None
    assert reply_to(message(0, "x", is_pending=True)) is None
    assert reply_to(message(0, "x", refusal="full")) is None
    assert reply_to(turn("turn_1", CODEX)) is None
    assert reply_to(NoticeBlock("note:1", 1, AT, "x")) is None


@does("block.full_text")
async def test_a_cut_answer_is_loaded_whole() -> None:
    cut = replace(ANSWER, is_cut=True)
    view = replace(sample_view(), timeline=TimelineView("room:main", (cut,), 1, 4))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "l")
        assert window.asked("load_full_text") == [("load_full_text", cut.block_id)]


async def test_what_is_not_cut_is_not_loaded_again() -> None:
    async with open_window() as window:
        await window.press("escape", "l")
        assert window.asked("load_full_text") == []
        assert "not cut" in window.toasts[-1]


@does("dialog.copy")
async def test_an_activated_block_shows_its_facts() -> None:
    async with open_window() as window:
        window.app.room.timeline.post_message(BlockActivated("msg:evt_1"))
        await window.settle()
        assert "evt_1" in window.screen_text()
        await window.press("ctrl+y", "escape")
        assert window.app.clipboard == "evt_1"


async def test_what_the_timeline_copies_goes_to_the_terminal() -> None:
    async with open_window() as window:
        window.app.room.timeline.post_message(CopyRequested("print()", "code"))
        await window.settle()
        assert window.app.clipboard == "print()"
        assert window.toasts[-1].startswith("Code sent to the terminal")
