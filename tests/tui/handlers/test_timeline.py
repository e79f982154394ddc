"""Moving through the timeline: each key calls the timeline, jumps ask the session."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from groupx_tui.state.model import TimelineView
from groupx_tui.widgets.timeline.messages import NeedAfter, NeedBefore, NeedEnd
from groupx_tui.widgets.timeline.widget import Timeline
from support.does import does
from support.fake_session import AT, CODEX, GUIDE, FakeSession, message, sample_view, turn
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the timeline's actions, as they are called."""
    called: list[str] = []
    for name in [name for name in dir(Timeline) if name.startswith("action_")]:
        if "screen" not in name and name in (*vars(Timeline), *vars(Timeline.__mro__[1])):
            monkeypatch.setattr(
                Timeline, name, lambda self, name=name: called.append(name.removeprefix("action_"))
            )
    return called


@pytest.mark.parametrize(
    ("key", "action", "does_id"),
    [
        ("pageup", "page_up", "timeline.page_up"),
        ("pagedown", "page_down", "timeline.page_down"),
        ("ctrl+end", "end", "timeline.last"),
        ("ctrl+r", "toggle_reasoning", "timeline.toggle_reasoning"),
        ("ctrl+t", "toggle_tools", "timeline.toggle_tools"),
    ],
)
async def test_keys_that_work_while_writing(
    calls: list[str], key: str, action: str, does_id: str
) -> None:
    async with open_window() as window:
        calls.clear()
        await window.press(key)
        assert calls == [action]
        assert window.place() == "composer"


@pytest.mark.parametrize(
    ("key", "action", "does_id"),
    [
        ("up", "cursor_previous", "timeline.previous"),
        ("j", "cursor_next", "timeline.next"),
        ("enter", "toggle_block", "timeline.toggle"),
        ("space", "toggle_block", "timeline.toggle"),
        ("c", "copy", "block.copy"),
        ("x", "copy_code", "block.copy_code"),
        ("shift+up", "line_up", "timeline.line_up"),
        ("ctrl+down", "line_down", "timeline.line_down"),
        ("ctrl+u", "half_page_up", "timeline.half_page_up"),
        ("ctrl+d", "half_page_down", "timeline.half_page_down"),
        ("left_square_bracket", "previous_message", "timeline.previous_own"),
        ("right_square_bracket", "next_message", "timeline.next_own"),
        ("g", "first", "timeline.home"),
        ("G", "end", "timeline.end"),
        ("end", "end", "timeline.end"),
        ("minus", "fold_all", "timeline.fold_all"),
        ("plus", "unfold_all", "timeline.unfold_all"),
    ],
)
async def test_keys_that_work_while_reading(
    calls: list[str], key: str, action: str, does_id: str
) -> None:
    async with open_window() as window:
        await window.press("escape")
        calls.clear()
        await window.press(key)
        assert calls == [action]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("/jump 3", 3), ("/jump #1,204", 1204)],
)
async def test_a_jump_asks_for_the_page(typed: str, asked: int) -> None:
    async with open_window() as window:
        window.app.room.composer.editor.load_text(typed)
        await window.press("escape", "tab", "enter") if window.is_completing() else None
        await window.press("enter")
        assert window.asked("jump") == [("jump", asked)]


@does("timeline.first")
async def test_first_goes_to_the_first_message_of_the_room(calls: list[str]) -> None:
    async with open_window() as window:
        calls.clear()
        await window.press("ctrl+home")
        assert calls == ["first"]
        timeline = replace(window.session.view.timeline, has_more_before=True)
        window.session.push(timeline=timeline)
        await window.press("ctrl+home")
        assert window.asked("jump") == [("jump", "first")]


async def test_a_jump_to_nowhere_is_told() -> None:
    async with open_window() as window:
        window.app.room.composer.editor.load_text("/jump there")
        await window.press("enter")
        assert "“there” is no place. Expected first, last" in window.toasts[-1]


@does("timeline.jump")
async def test_a_jump_to_a_day_asks_for_its_moment() -> None:
    async with open_window() as window:
        window.app.room.composer.editor.load_text("/jump 2026-03-01 14:05")
        await window.press("enter")
        ((_, at),) = window.asked("jump_to_time")
        assert at.replace(tzinfo=None) == datetime(2026, 3, 1, 14, 5)  # noqa: DTZ001 - as typed
        assert at.tzinfo is not None


async def test_the_pages_that_the_timeline_asks_for_are_loaded() -> None:
    async with open_window() as window:
        window.session.asked.clear()
        timeline = window.app.room.timeline
        for wanted in (
            NeedBefore("room:main", 1),
            NeedAfter("room:main", 5),
            NeedEnd("room:main"),
        ):
            timeline.post_message(wanted)
        await window.settle()
        asked = [asked for asked in window.session.asked if asked[0] != "set_reader_side"]
        assert asked == [("load_before",), ("load_after",), ("jump", "last")]


def marked(window: Window) -> str | None:
    return window.app.room.timeline.current_block_id


@does("timeline.previous_failed", "timeline.next_failed")
async def test_one_goes_from_one_turn_without_an_answer_to_the_next() -> None:
    blocks = (
        message(1, "a"),
        turn("turn_2", CODEX, order_seq=3, phase="failed", ended_at=AT),
        turn("turn_4", GUIDE, "fine", order_seq=5, phase="completed", ended_at=AT),
        turn("turn_6", GUIDE, order_seq=7, phase="interrupted", ended_at=AT),
        message(8, "b"),
    )
    view = replace(sample_view(), timeline=TimelineView("room:main", blocks, 1, 8))
    async with open_window(FakeSession(view)) as window:
        await window.press("escape", "left_curly_bracket")
        assert marked(window) == "turn:turn_6"
        await window.press("left_curly_bracket")
        assert marked(window) == "turn:turn_2"
        await window.press("left_curly_bracket")
        assert "No turn without an answer there" in window.toasts[-1]
        await window.press("right_curly_bracket")
        assert marked(window) == "turn:turn_6"


@does("timeline.select_down", "timeline.select_up")
async def test_lines_are_selected_by_keys_copied_and_dropped() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "up", "J", "J", "J")
        selected = window.app.room.timeline.selected_text()
        assert selected.startswith("Guide · answered")
        assert "I find, list and quote what was said here." in selected
        assert "Try" not in selected
        await window.press("K", "K")
        assert "I find" not in window.app.room.timeline.selected_text()
        await window.press("K", "K", "K")
        assert "What can you do?" in window.app.room.timeline.selected_text()
        await window.press("c")
        assert "Selection sent to the terminal" in window.toasts[-1]
        await window.press("escape")
        assert window.app.room.timeline.selected_text() == ""
        assert window.place() == "timeline"


@does("timeline.toggle_time")
async def test_times_become_how_long_ago_and_times_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Timeline, "_minute", lambda self: datetime(2026, 11, 30, 12, 20, tzinfo=UTC)
    )
    async with open_window() as window:
        await window.press("escape", "z")
        assert "You · 3 h ago → Guide" in window.screen_text()
        await window.press("z")
        assert "ago" not in window.screen_text()
