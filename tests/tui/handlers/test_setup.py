"""Settings from the window: agents, the settings file, keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from groupx_tui.app import GroupXApp
from groupx_tui.handlers.setup import addable
from groupx_tui.screens.chooser import Chooser
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import CODEX, GUIDE, KIMI, FakeSession, sample_view
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

AVAILABLE = {
    "available": [
        {"agent": "guide", "name": "Guide", "state": "found", "configured": True},
        {"agent": "kimi", "name": "Kimi", "state": "absent", "advice": "Install it: pipx kimi."},
        {"agent": "gemini", "name": "Gemini", "state": "found", "program": "/usr/bin/gemini"},
    ]
}


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An editor that writes a line, and a window that can be suspended for it."""
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho \'{"limits": {"hopCount": 3}}\' > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    @contextmanager
    def suspend(app: GroupXApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(GroupXApp, "suspend", suspend)
    return script


@does("setup.open")
async def test_settings_lead_to_each_thing_that_can_be_set() -> None:
    async with open_window() as window:
        await window.type("/settings")
        await window.press("enter")
        for part in ("Agents", "Limits", "Settings file", "Keys", "Theme", "Attention"):
            assert part in window.screen_text()
        await window.type("theme")
        await window.press("enter")
        assert "GroupX dark" in window.screen_text() or "dark" in window.screen_text()


@does("setup.agents")
async def test_agents_are_switched_on_and_off_removed_and_added() -> None:
    async with open_window() as window:
        await window.type("/agents-setup")
        await window.press("enter", "enter")
        assert window.commands.asked == [("agents", "disable", "guide")]
        await window.type("old")
        await window.press("enter")
        assert window.commands.asked[-1] == ("agents", "enable", "old")
        await window.press("f8", "escape", "f8", "enter")
        assert window.commands.asked[2:] == [("agents", "remove", "old")]
        window.commands.prints = json.dumps(AVAILABLE)
        await window.press("f2")
        assert isinstance(window.top, Chooser)
        assert "Gemini" in window.screen_text()
        await window.press("enter")
        assert window.commands.asked[-1] == ("agents", "add", "gemini")


async def test_lists_of_agents_follow_what_happens_to_them() -> None:
    session = FakeSession(replace(sample_view(), agents=()))
    for command in ("agents-setup", "agents"):
        async with open_window(session) as window:
            await window.type(f"/{command}")
            await window.press("enter")
            assert "Codex" not in window.screen_text()
            session.push(agents=(CODEX, KIMI))
            await window.until(lambda: "Kimi" in window.screen_text())
            await window.press("down")
            session.push(agents=(replace(CODEX, name="Codex the second"), KIMI))
            await window.until(lambda: "Codex the second" in window.screen_text())
            assert isinstance(window.top, Chooser)
            assert window.top.list.marked is not None
            assert window.top.list.marked.key == KIMI.actor_id, "the marked line stays marked"
            session.push(agents=())


async def test_an_empty_room_with_the_guide_alone_says_how_to_add_an_agent() -> None:
    view = sample_view()
    empty = TimelineView(view.room_id, (), 0, 0)
    builtin = replace(GUIDE, driver="builtin")
    session = FakeSession(replace(view, agents=(builtin,), timeline=empty))
    async with open_window(session) as window:
        assert "/agents-setup adds an agent's program" in window.screen_text()
        session.push(agents=(builtin, replace(CODEX, driver="codex")))
        await window.until(lambda: "/agents-setup" not in window.screen_text())
        assert "No messages yet" in window.screen_text()


async def test_who_an_agent_is_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "groupx.json"
    path.write_text('{"agents": {"guide": {"driver": "builtin", "identity": "You review."}}}')
    async with open_window() as window:
        window.commands.config_path = path
        await window.type("/agents-setup")
        await window.press("enter", "f7")
        assert "You review." in window.screen_text()
        assert "goes with every turn" in window.screen_text()
        await window.press("enter")
        assert window.commands.asked == [], "nothing was changed"
        await window.press("f7", "ctrl+j")
        await window.type("Briefly")
        await window.press("enter")
        wanted = ("agents", "set", "guide", "identity=You review.\nBriefly")
        assert window.commands.asked == [wanted]


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "on its machine"), ('{"agents": 3}', "agents"), ("{", "not valid JSON")],
)
async def test_where_the_file_cannot_be_read_that_is_said(
    tmp_path: Path, text: str | None, said: str
) -> None:
    async with open_window() as window:
        if text is not None:
            window.commands.config_path = tmp_path / "groupx.json"
            window.commands.config_path.write_text(text)
        await window.type("/agents-setup")
        await window.press("enter", "f7")
        assert said in window.toasts[-1]


def test_what_is_installed_stands_first_and_what_is_there_is_not_offered() -> None:
    assert [choice.key for choice in addable(json.dumps(AVAILABLE))] == ["gemini", "kimi"]
    assert addable("an error") == []


@does("setup.config")
async def test_the_settings_file_is_edited_and_read(editor: Path, tmp_path: Path) -> None:
    async with open_window() as window:
        window.commands.config_path = tmp_path / "groupx.json"
        await window.type("/config")
        await window.press("enter")
        await window.until(lambda: window.commands.asked == [("reload",)])
        assert "hopCount" in (tmp_path / "groupx.json").read_text()


async def test_settings_of_a_server_elsewhere_are_not_here() -> None:
    async with open_window() as window:
        await window.type("/config")
        await window.press("enter")
        assert "on its machine" in window.toasts[-1]
