"""Files, large pastes, the editor, the history of other days and the context meter."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from groupx_tui.handlers import context
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import FakeSession, MemoryHistory, sample_view
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

LONG = "".join(f"line {number}\n" for number in range(1_234))
CHIP = "[pasted 1,234 lines]"


async def paste(window: Window, text: str) -> None:
    window.app.post_message(events.Paste(text))
    await window.settle()


def reason(window: Window) -> str:
    return window.app.room.composer.targets.reason


# --- files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in ("src/parser.py", "my notes.md", "README.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("")
    return tmp_path


@does("composer.complete")
async def test_a_file_is_found_by_letters_and_named_by_its_path(folder: Path) -> None:
    async with open_window(folder=folder) as window:
        await window.type("see @prs")
        await window.until(window.is_completing)
        await window.press("tab")
        assert window.text == "see @src/parser.py "
        await window.type("and @notes")
        await window.press("tab")
        assert window.text == 'see @src/parser.py and @"my notes.md" '


async def test_agents_stand_before_files_and_a_path_wakes_nobody(folder: Path) -> None:
    (folder / "codex").mkdir()
    (folder / "codex" / "notes.md").write_text("")
    async with open_window(folder=folder) as window:
        await window.type("see @codex")
        await window.until(window.is_completing)
        texts = [c.text for c in window.app.room.popup.completion.candidates]  # type: ignore[union-attr]
        assert texts == ["@codex", "@codex/notes.md"]
        await window.type("/notes.md")
        assert window.app.room.composer.targets.reason == "default"


async def test_a_file_at_the_start_is_not_taken_for_a_wrong_agent(folder: Path) -> None:
    async with open_window(folder=folder) as window:
        await window.type("@README.md is old")
        await window.until(lambda: "there is no agent" not in window.screen_text())


async def test_without_a_folder_only_agents_are_offered() -> None:
    async with open_window() as window:
        await window.type("@read")
        assert not window.is_completing()


# --- pastes


async def test_a_large_paste_is_a_chip_and_is_sent_whole() -> None:
    async with open_window() as window:
        await window.type("look ")
        await paste(window, LONG)
        await window.type(" ok")
        assert f"look {CHIP} ok" in window.screen_text()
        assert "f6 opens the paste" in window.screen_text()
        assert window.drafts.texts["room:main"] == f"look {LONG} ok"
        await window.press("enter")
        assert window.asked("send")[0][1] == f"look {LONG} ok"
        await window.press("up")
        assert window.app.room.composer.editor.text == f"look {CHIP} ok"


@does("composer.open_paste", "edit.undo")
async def test_a_chip_opens_and_closes_again_by_undo() -> None:
    async with open_window() as window:
        await paste(window, LONG)
        await window.press("f6")
        assert window.app.room.composer.editor.text == LONG
        await window.press("ctrl+underscore")
        assert window.app.room.composer.editor.text == CHIP
        await window.press("ctrl+underscore", "f6")
        assert window.text == ""
        assert "no folded paste" in window.toasts[-1]


@does("edit.delete_left", "edit.delete_word_left", "edit.cursor_left", "edit.delete_right")
async def test_a_chip_is_one_thing_for_every_key() -> None:
    async with open_window() as window:
        editor = window.app.room.composer.editor
        await window.type("a")
        await paste(window, LONG)
        await window.press("left")
        assert editor.cursor_location == (0, 1)
        await window.press("right")
        assert editor.cursor_location == (0, 1 + len(CHIP))
        await window.press("backspace")
        assert editor.text == "a"
        await window.press("ctrl+underscore", "ctrl+w")
        assert editor.text == "a"
        await window.press("ctrl+underscore", "home", "right", "delete")
        assert editor.text == "a"
        await window.press("ctrl+underscore", "home", "right", "shift+right", "x")
        assert editor.text == "ax"


async def test_a_click_into_a_chip_lands_at_its_edge() -> None:
    async with open_window() as window:
        await paste(window, LONG)
        await window.pilot.click("Editor", offset=(5, 0))
        await window.settle()
        assert window.app.room.composer.editor.cursor_location[1] in (0, len(CHIP))
        await window.type("x")
        assert window.text in (f"x{LONG}", f"{LONG}x")


async def test_a_chip_survives_another_room_and_what_it_holds_is_no_command() -> None:
    text = "//help and more\n" * 30
    async with open_window() as window:
        await paste(window, text)
        await window.press("alt+down", "alt+up")
        assert window.app.room.composer.editor.text == "[pasted 30 lines]"
        await window.press("enter")
        assert window.asked("send")[0][1] == text


async def test_names_in_a_folded_paste_wake_nobody() -> None:
    async with open_window() as window:
        await paste(window, "@codex said\n" * 30)
        assert reason(window) == "default"
        await window.press("f6")
        assert reason(window) == "mention"


# --- the editor


@pytest.fixture
def _own_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys; open(sys.argv[1], 'a').write('more')")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")


@pytest.mark.process
@pytest.mark.usefixtures("_own_editor")
@does("app.editor")
async def test_the_editor_gets_the_draft_and_gives_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_window() as window:
        monkeypatch.setattr(window.app, "suspend", nullcontext)
        await window.type("draft")
        await window.press("f4")
        await window.until(lambda: "more" in window.text)
        assert window.text == "draft\nmore"
        monkeypatch.setenv("VISUAL", f"{sys.executable} -c 'raise SystemExit(1)'")
        await window.press("f4")
        await window.until(lambda: bool(window.toasts))
        assert window.text == "draft\nmore"
        assert "your text is as it was" in window.toasts[-1]
        await window.press("ctrl+underscore")
        assert window.text == "draft"


async def test_without_an_editor_or_a_terminal_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with open_window() as window:
        monkeypatch.setenv("VISUAL", "surely-not-installed")
        await window.press("f4")
        await window.until(lambda: bool(window.toasts))
        assert "not installed" in window.toasts[-1]
        monkeypatch.setenv("VISUAL", sys.executable)
        await window.press("f4")
        await window.until(lambda: len(window.toasts) == 2)
        assert "needs a terminal" in window.toasts[-1]


# --- the history


@does("composer.up", "composer.down")
async def test_what_was_sent_on_another_day_is_there_and_what_is_sent_is_kept() -> None:
    history = MemoryHistory({"room:main": ["yesterday"]})
    async with open_window(history=history) as window:
        await window.type("today")
        await window.press("enter", "up", "up")
        assert window.text == "yesterday"
        await window.press("down")
        assert window.text == "today"
        await window.press("ctrl+c", "alt+down", "up")
        assert window.text == ""
    assert history.texts == {"room:main": ["yesterday", "today"]}


async def test_a_history_that_cannot_be_kept_is_told() -> None:
    history = MemoryHistory({})
    history.problem = "Sent texts cannot be kept: no space."
    async with open_window(history=history) as window:
        assert window.toasts == ["Sent texts cannot be kept: no space."]


# --- the meter


async def test_the_context_is_shown_only_when_it_fills_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context, "COOL_S", 0.01)
    session = FakeSession()
    async with open_window(session) as window:
        assert "context" not in window.screen_text()
        assert len(window.asked("context_usage")) == 1
        session.context_percent = 72.4
        timeline = replace(session.view.timeline, total_messages=9)
        session.push(timeline=timeline)
        await window.until(lambda: "context 72% full" in window.screen_text())
        session.context_percent = None
        session.push(timeline=replace(timeline, total_messages=10))
        await window.until(lambda: len(window.asked("context_usage")) == 3)
        assert "context 72% full" in window.screen_text()
        await window.press("alt+down")
        assert "context 72% full" not in window.screen_text()


async def test_nothing_is_asked_while_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "COOL_S", 0.01)
    view = replace(sample_view(), timeline=TimelineView("room:main"), connection="offline")
    session = FakeSession(view)
    async with open_window(session) as window:
        await window.settle()
        assert window.asked("context_usage") == []
        session.push(connection="live")
        await window.until(lambda: len(window.asked("context_usage")) == 1)
        session.push()
        await window.settle()
        assert len(window.asked("context_usage")) == 1
