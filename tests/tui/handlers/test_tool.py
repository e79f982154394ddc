"""Commands run for the window: what they print is shown, nothing is asked twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from groupx_shared.errors import GroupXError
from groupx_shared.workspace import Workspace
from groupx_tui import commandline
from groupx_tui.commandline import CommandLine
from groupx_tui.screens.reader import Reader
from support.does import does
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@pytest.mark.parametrize(
    ("word", "command", "does_id"),
    [
        ("/usage", ("usage",), "tool.usage"),
        ("/doctor", ("doctor",), "tool.doctor"),
        ("/backups", ("restore",), "tool.backups"),
        ("/logs", ("logs", "-n", "300"), "tool.logs"),
        ("/about", ("status",), "tool.about"),
    ],
)
async def test_what_a_command_prints_is_shown(
    word: str, command: tuple[str, ...], does_id: str
) -> None:
    async with open_window() as window:
        await window.type(word)
        await window.press("enter")
        assert window.commands.asked == [command]
        assert isinstance(window.top, Reader)
        assert "failed   agent x   not installed" in window.screen_text()


@does("tool.backup")
async def test_a_backup_is_made_where_one_says(tmp_path: Path) -> None:
    async with open_window() as window:
        await window.type("/backup")
        await window.press("enter", "ctrl+u")
        await window.type("/tmp/x.db")
        await window.press("enter")
        assert window.commands.asked == [("backup", "/tmp/x.db")]


@does("app.export")
async def test_a_room_is_exported_after_two_questions_or_at_once() -> None:
    async with open_window() as window:
        window.commands.prints = ""
        await window.type("/export")
        await window.press("enter", "down", "enter", "ctrl+u")
        await window.type("/tmp/main.jsonl")
        await window.press("enter")
        room = ("--room", "room:main")
        wanted = ("export", *room, "--format", "jsonl", "-o", "/tmp/main.jsonl")
        assert window.commands.asked == [wanted]
        assert window.toasts[-1] == "Written to /tmp/main.jsonl."
        await window.type("/export /tmp/a.md")
        await window.press("enter")
        assert window.commands.asked[1] == ("export", *room, "--format", "md", "-o", "/tmp/a.md")


async def test_all_rooms_are_exported_without_naming_one() -> None:
    async with open_window() as window:
        await window.type("/export")
        await window.press("enter", "up", "enter", "enter")
        assert "--room" not in window.commands.asked[0]


@pytest.mark.process
async def test_a_real_command_is_run_on_the_windows_workspace(tmp_path: Path) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    workspace = Workspace(tmp_path / "groupx.json", tmp_path / ".groupx", is_default=False)
    printed = await CommandLine(workspace).run(("agents", "list", "--nonsense"))
    assert "No such option" in printed


@pytest.mark.process
async def test_a_command_that_does_not_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path / "groupx.json", tmp_path, is_default=True)
    line = CommandLine(workspace)
    words = [sys.executable, "-c", "import signal; signal.pause()"]
    monkeypatch.setattr(line, "_command", lambda _: words)
    monkeypatch.setattr(commandline, "PATIENCE_S", 0.1)
    with pytest.raises(GroupXError, match="did not end"):
        await line.run(("doctor",))
