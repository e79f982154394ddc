"""The window as a whole: it draws first, connects then, and closes cleanly."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from rich.color import Color
from textual.color import TRANSPARENT

from groupx_shared.errors import RefusedError, WorkspaceError
from groupx_shared.paths import user_state_folder
from groupx_tui.keymap import build_keymap
from groupx_tui.preferences import PreferenceFile
from groupx_tui.screens.trouble import Trouble
from groupx_tui.state.model import ClientView
from groupx_tui.theme import load_themes
from support.fake_session import CODEX, FakeSession, MemoryDrafts, sample_view
from support.window import PATIENCE_S, Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

DEFAULT = Color.default()
HOSTILE = "\x1b]0;owned\x07[red]x[/red]\u202e"


async def test_the_first_frame_is_drawn_before_the_server_is_there() -> None:
    release = threading.Event()
    session = FakeSession(ClientView())
    async with open_window(session, start_server=release.wait) as window:
        await window.pilot.pause()
        assert "connecting" in window.screen_text()
        assert session.runs == 0
        release.set()
        await asyncio.wait_for(session.started.wait(), PATIENCE_S)
    assert session.is_closed


async def test_a_window_that_is_closed_during_the_start_does_not_wait_for_it() -> None:
    release = threading.Event()
    try:
        async with open_window(start_server=release.wait) as window:
            await window.press("ctrl+d")
        assert window.app.return_code == 0
    finally:
        release.set()


async def test_a_server_that_cannot_start_is_told_and_can_be_tried_again() -> None:
    tries: list[int] = []

    def start() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise WorkspaceError("The folder /x cannot be used. Check its permissions.")

    session = FakeSession()
    async with open_window(session, start_server=start) as window:
        await asyncio.wait_for(session.started.wait(), PATIENCE_S)
        await window.settle()
        assert isinstance(window.top, Trouble)
        assert "Check its permissions" in window.screen_text()
        await window.press("enter")
        await window.until(lambda: len(tries) == 2)
        assert not window.has_dialog


async def test_the_trouble_goes_when_somebody_else_has_started_the_server() -> None:
    def start() -> None:
        raise WorkspaceError("No.")

    session = FakeSession(ClientView(connection="offline"))
    async with open_window(session, start_server=start) as window:
        await window.until(lambda: window.has_dialog)
        session.push(connection="live")
        await window.until(lambda: not window.has_dialog)


async def test_the_banner_says_that_the_server_is_being_started() -> None:
    release = threading.Event()
    starts: list[int] = []

    def start() -> None:
        starts.append(1)
        if len(starts) > 1:
            release.wait(PATIENCE_S)

    session = FakeSession(ClientView(connection="offline"))
    async with open_window(session, start_server=start) as window:
        await window.until(lambda: "f5 or /start starts it" in window.screen_text())
        await window.pilot.click("Banner")
        await window.until(lambda: "Starting the server" in window.screen_text())
        release.set()
        await window.until(lambda: "f5 or /start" in window.screen_text())


async def test_escape_in_the_trouble_shows_the_room_without_a_server() -> None:
    def start() -> None:
        raise WorkspaceError("No.")

    session = FakeSession(ClientView(connection="offline"))
    async with open_window(session, start_server=start) as window:
        await asyncio.wait_for(session.started.wait(), PATIENCE_S)
        await window.settle()
        await window.press("escape")
        assert not window.has_dialog
        assert "f5 or /start starts it" in window.screen_text()


async def test_the_room_names_the_window() -> None:
    async with open_window() as window:
        assert window.app.title == "(3) GroupX · Main"
        await window.press("alt+down")
        assert window.app.title == "GroupX · Ideas"


async def test_keys_go_where_they_went_when_the_terminal_had_lost_the_focus() -> None:
    async with open_window() as window:
        window.app.app_focus = False
        await window.type("a")
        assert window.text == "a"
        assert window.app.app_focus
        window.app.room.set_focus(None)  # as in a terminal that has no focus during the start
        window.app.app_focus = False
        await window.type("b")
        assert window.text == "ab"


async def test_a_refusal_is_shown_as_it_is_and_nothing_is_interpreted() -> None:
    async with open_window() as window:
        window.session.refusal = RefusedError(f"No [b]room[/b] {HOSTILE}")
        await window.press("alt+down")
        assert "[b]room[/b]" in window.toasts[-1]
        assert "\x1b" not in window.toasts[-1]


async def test_names_with_markup_are_drawn_as_they_are() -> None:
    view = sample_view()
    rooms = (replace(view.rooms[0], title="[red]Main[/red] [@click=app.quit]x"), *view.rooms[1:])
    agents = (replace(CODEX, name="[bold]C[/bold]", is_default=True),)
    async with open_window(FakeSession(replace(view, rooms=rooms, agents=agents))) as window:
        await window.press("f2")
        shown = window.screen_text()
        assert "[red]Main[/red]" in shown
        assert "[bold]C[/bold]" in shown


async def test_copying_is_told_as_sent_not_as_done() -> None:
    async with open_window() as window:
        window.app.copy("x" * 100, "answer")
        await window.settle()
        assert "sent to the terminal" in window.toasts[-1]
        assert "OSC 52" in window.toasts[-1]
        window.app.copy("x" * 80_000, "answer")
        await window.settle()
        assert "only 56 KB" in window.toasts[-1]
        assert window.app.clipboard == "x" * 80_000
        window.app.copy("", "answer")
        await window.settle()
        assert "nothing to copy" in window.toasts[-1]


async def test_a_changed_key_works_and_the_old_one_does_not() -> None:
    keymap = build_keymap({"room.next": "f9"})
    async with open_window(keymap=keymap) as window:
        await window.press("alt+down")
        assert window.asked("switch_room") == []
        await window.press("f9")
        assert window.asked("switch_room") == [("switch_room", "room:ideas")]


async def test_notes_and_an_unknown_chosen_theme_are_told_once() -> None:
    PreferenceFile(user_state_folder()).choose(theme="nrod")
    async with open_window() as window:
        assert any("“nord”" in toast for toast in window.toasts)
        assert window.app.theme == "groupx-dark"


async def test_drafts_that_cannot_be_kept_are_told() -> None:
    drafts = MemoryDrafts()
    drafts.problem = "Drafts cannot be kept: no space."
    async with open_window(drafts=drafts) as window:
        assert window.toasts == ["Drafts cannot be kept: no space."]
    assert drafts.is_closed


async def test_the_chosen_theme_is_there_again() -> None:
    PreferenceFile(user_state_folder()).choose(theme="nord")
    async with open_window() as window:
        assert window.app.theme == "nord"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(load_themes(user_state_folder()).themes))
async def test_every_theme_can_be_drawn(name: str) -> None:
    async with open_window(size=(120, 30)) as window:
        window.app.theme = name
        await window.press("ctrl+p")
        assert "Commands" in window.screen_text()


async def test_without_colours_no_colour_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_window(no_color=True) as window:
        await window.type("@")
        strips = window.app.screen._compositor.render_strips()
        filters = window.app.get_line_filters()
        for strip in strips:
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, TRANSPARENT)
            for segment in strip:
                assert getattr(segment.style, "color", None) in (None, DEFAULT)


async def test_an_error_of_ours_leaves_a_sentence_and_a_file() -> None:
    async def crash(window: Window) -> None:
        window.app.handlers.room.next = None  # type: ignore[method-assign, assignment]
        await window.press("alt+down")

    with pytest.raises(TypeError):
        async with open_window() as window:
            await crash(window)
    assert window.app.return_code == 1
    trace = (user_state_folder() / "crash.log").read_text()
    assert "TypeError" in trace


async def test_nothing_ticks_while_nothing_happens() -> None:
    async with open_window() as window:
        await window.pilot.pause()
        nodes = [window.app, window.app.room, *window.app.room.query("*")]
        ticking = [
            timer
            for node in nodes
            for timer in node._timers
            if timer._active.is_set() and timer._repeat is None
        ]
        assert ticking == []


async def test_a_room_that_was_asked_for_and_is_not_there_is_told_once() -> None:
    view = replace(sample_view(), missing_room="room:idea")
    async with open_window(FakeSession(view)) as window:
        told = [toast for toast in window.toasts if "no room" in toast]
        assert told == [
            "There is no room “idea”. Did you mean “ideas”? This is the main room; /new makes one."
        ]
        window.session.push(cursor=9)
        await window.settle()
        assert len([toast for toast in window.toasts if "no room" in toast]) == 1


@pytest.mark.process
def test_nothing_is_loaded_before_the_first_frame_that_only_the_server_needs() -> None:
    code = (
        "import sys, groupx_tui.opening; "
        "print([m for m in ('pydantic', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
