"""A sign only while the person looks elsewhere; the title counts what is new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_shared.paths import user_state_folder
from groupx_tui.attention import BELL
from groupx_tui.handlers import attention
from groupx_tui.preferences import PreferenceFile
from groupx_tui.state.model import Author, ClientView
from support.does import does
from support.fake_session import CODEX, GUIDE, FakeSession, message, sample_view, turn
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

BOT = Author("agent:codex", "Codex", "agent")
ANSWER = turn("turn_9", CODEX, "yes", order_seq=9, phase="completed", response_event_id="e")


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "STY", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(attention, "COOL_S", 0.0)


def written(window: Window, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the terminal past the drawing, from now on."""
    sequences: list[str] = []
    monkeypatch.setattr(window.app, "write_terminal", sequences.append)
    return sequences


async def test_an_answer_rings_only_while_the_terminal_has_no_focus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = FakeSession()
    async with open_window(session) as window:
        rung = written(window, monkeypatch)
        session.push(ended=(ANSWER,))
        assert rung == []
        window.app.app_focus = False
        session.push(ended=(ANSWER,))
        session.push(ended=())
        assert rung == [BELL]
        window.app.app_focus = True
        session.push(ended=(ANSWER,))
        assert rung == [BELL]


async def test_several_answers_at_once_ring_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "COOL_S", 1_000.0)
    session = FakeSession()
    async with open_window(session) as window:
        rung = written(window, monkeypatch)
        window.app.app_focus = False
        session.push(ended=(ANSWER,))
        session.push(ended=(ANSWER,))
        assert rung == [BELL]


@does("app.attention")
async def test_the_sign_is_chosen_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    session = FakeSession()
    async with open_window(session) as window:
        rung = written(window, monkeypatch)
        await window.type("/attention off")
        await window.press("enter")
        window.app.app_focus = False
        session.push(ended=(ANSWER,))
        assert rung == []
        assert "nothing" in window.toasts[-1]
        window.app.app_focus = True
        await window.type("/attention")
        await window.press("space", "escape", "enter")
        assert window.has_dialog
        await window.press("up", "enter")
    kept = PreferenceFile(user_state_folder())
    assert kept.load().attention == "bell"


async def test_the_title_counts_what_is_new_in_other_rooms_and_here_while_away() -> None:
    session = FakeSession()
    async with open_window(session) as window:
        assert window.app.title == "(3) GroupX · Main"
        rooms = tuple(replace(room, unread=0) for room in session.view.rooms)
        session.push(rooms=rooms)
        await window.until(lambda: window.app.title == "GroupX · Main")
        window.app.app_focus = False
        came = (
            message(6, "from elsewhere"),
            message(7, "hello", BOT),
            replace(ANSWER, order_seq=9),
        )
        blocks = (*session.view.timeline.blocks, *came, turn("turn_8", GUIDE))
        session.push(timeline=replace(session.view.timeline, blocks=blocks, last_seq=9))
        await window.until(lambda: window.app.title == "(2) GroupX · Main")
        window.app.app_focus = True
        assert window.app.title == "GroupX · Main"


async def test_what_is_loaded_after_the_focus_went_is_not_new() -> None:
    session = FakeSession(ClientView())
    async with open_window(session) as window:
        window.app.app_focus = False
        view = replace(sample_view(), rooms=())
        session.push(ledger_id=view.ledger_id, timeline=view.timeline)
        await window.until(lambda: "What can you do?" in window.screen_text())
        assert not window.app.title.startswith("(")


async def test_progress_shows_while_an_agent_works_and_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WT_SESSION", "x")
    session = FakeSession()
    async with open_window(session) as window:
        shown: list[bool] = []
        monkeypatch.setattr(
            window.app, "set_progress", lambda *, is_working: shown.append(is_working)
        )
        session.push(open_turns=(turn("turn_1", GUIDE, phase="queued"),))
        session.push(open_turns=(turn("turn_1", GUIDE),))
        session.push(connection="reconnecting")
        session.push(connection="live")
        session.push(open_turns=())
        assert shown == [False, True, False, True, False]
