"""The composer by mouse and from outside; its keys are proven in handlers/test_composer.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from groupx_tui.widgets.composer.lines import Reply
from support.fake_session import CODEX, GUIDE, YOU
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


async def test_a_click_takes_a_candidate() -> None:
    async with open_window() as window:
        await window.type("@")
        await window.pilot.click("CompletionPopup", offset=(4, 1))
        await window.settle()
        assert window.text == "@codex "


async def test_an_agent_that_changes_is_shown_at_once() -> None:
    async with open_window() as window:
        busy = replace(GUIDE, status="working", active_turn_id="turn_1")
        window.session.push(agents=(busy, CODEX))
        await window.settle()
        assert "→ Guide (busy: waits its turn)" in window.screen_text()


async def test_a_restored_reply_is_shown_again() -> None:
    async with open_window() as window:
        window.app.room.composer.restore("text", Reply("evt_1", YOU, "the question"))
        await window.settle()
        assert "↳ You: the question" in window.screen_text()


async def test_the_list_stands_right_above_the_composer_whatever_its_height() -> None:
    async with open_window() as window:
        await window.press("ctrl+j", "ctrl+j", "at")
        lines = window.screen_text().splitlines()
        top = next(row for row, line in enumerate(lines) if "@guide" in line)
        assert "@all" in lines[top + 3]
        assert set(lines[top + 4].strip()) == {"─"}


async def test_moving_the_caret_away_closes_the_list() -> None:
    async with open_window() as window:
        await window.type("ab @")
        await window.press("left", "left")
        assert not window.is_completing()


@pytest.mark.parametrize(
    ("line", "key", "left"),
    [("/mouse off", "enter", ""), ("@guide", "tab", "@guide"), ("hi @codex do", "enter", "")],
)
async def test_keys_of_one_burst_do_not_take_what_completed_an_earlier_text(
    line: str, key: str, left: str
) -> None:
    async with open_window() as window:
        await window.type(line[:2])
        editor = window.app.room.composer.editor
        for character in line[2:]:
            editor.insert(character)  # what it leads to is told later
        await editor._on_key(events.Key(key, None))
        await window.settle()
        assert window.text.strip() == left


async def test_a_list_that_was_deleted_opens_again() -> None:
    async with open_window() as window:
        for _ in range(2):
            await window.type("@")
            assert window.is_completing()
            await window.press("backspace")
            assert not window.is_completing()


async def test_a_name_is_no_mistake_while_the_list_offers_what_it_may_become() -> None:
    async with open_window() as window:
        await window.type("@cod")
        assert "there is no agent" not in window.screen_text()
        await window.press("escape")
        assert "there is no agent “@cod”" in window.screen_text()
