"""Every kind of screen as it looks, small and large, dark and light; none is without a picture.

Update with `pytest tests/tui/snapshots/test_screens.py --snapshot-update` after looking at them.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from groupx_shared.imageheader import ImageHeader
from groupx_shared.paths import user_state_folder
from groupx_tui import screens
from groupx_tui.app import GroupXApp
from groupx_tui.messages import ServerFailed
from groupx_tui.picture import Picture
from groupx_tui.preferences import PreferenceFile
from groupx_tui.screens.dialog import Dialog
from groupx_tui.screens.picture import PictureScreen, Terminal
from groupx_tui.setup import WindowSetup
from groupx_tui.theme import load_themes
from support.fake_records import FakeCommands
from support.fake_session import FakeSession, MemoryDrafts
from support.window import PATIENCE_S

pytestmark = pytest.mark.slow
"""Most open a window."""

Compare = Callable[..., bool]
DOCTOR = "ok       python    3.11.7\nfailed   agent kimi   not installed: pipx install kimi-cli\n"
FAILED = "No server answers at 127.0.0.1:4310."
"""What the key stands for that lets the start of the server fail."""
PICTURE = "a picture"
"""What the key stands for that shows a picture, in a terminal that shows none."""


class Case(NamedTuple):
    """How to get to a screen, and which kind it is."""

    screen: str
    keys: tuple[str, ...]


def word(text: str, *keys: str) -> tuple[str, ...]:
    """Type a slash command and press enter, then other keys."""
    letters = ("minus" if letter == "-" else letter for letter in text)
    return ("slash", *letters, "enter", *keys)


CASES = {
    "command output": Case("Reader", word("doctor")),
    "export": Case("Chooser", word("export")),
    "export to": Case("Ask", word("export", "enter")),
    "agents": Case("Chooser", ("f3",)),
    "rooms": Case("Chooser", ("ctrl+o",)),
    "themes": Case("Chooser", word("theme")),
    "memory": Case("Browser", ("f9",)),
    "memory of one kind": Case("Browser", ("f9", "tab", *"codex", "enter")),
    "memory filters": Case("Chooser", ("f9", "tab")),
    "remembering who": Case("Remember", ("f9", "f2", *"Brief", "tab", "right", "right")),
    "limits": Case("Chooser", word("limits")),
    "a limit": Case("AskSetting", word("limits", "down", "enter", "x")),
    "keys": Case("Chooser", word("keys", *"room")),
    "a key": Case("PressKey", word("keys", *"next", "space", *"room", "enter", "ctrl+g")),
    "who an agent is": Case("Write", word("agents-setup", "f7", *"Brief")),
    "a question": Case("Confirm", word("agents-setup", "f8")),
    "removing a text": Case("Remove", ("escape", "home", "down", "D")),
    "removing its bytes": Case("Remove", ("escape", "home", "down", "D", "right")),
    "what was removed": Case("Reader", ("escape", "home", "down", "D", "enter")),
    "removing a record": Case("Remove", ("f9", "alt+r", "tab", "right")),
    "trouble": Case("Trouble", (FAILED,)),
    "a picture": Case("PictureScreen", (PICTURE,)),
}
ELSEWHERE = {
    "RoomScreen": "test_snapshots.py",
    "AssistantScreen": "snapshots/test_assistant.py",
    "WatchScreen": "snapshots/test_watching.py",
}
"""Screens that have their pictures in another file."""
SIZES = {"80x24": (80, 24), "160x45": (160, 45)}


@pytest.fixture(autouse=True)
def _same_everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times in UTC, colours whatever the caller's terminal wants, files at the root."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir("/")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("theme", ["groupx-dark", "groupx-light"], ids=["dark", "light"])
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("name", list(CASES))
def test_a_screen(snap_compare: Compare, name: str, size: str, theme: str) -> None:
    case = CASES[name]

    async def run(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, GroupXApp)
        app.theme = theme
        session = app.session
        assert isinstance(session, FakeSession)
        await session.started.wait()
        await pilot.pause()
        for key in case.keys:
            if key == FAILED:
                app.post_message(ServerFailed(FAILED))
            elif key == PICTURE:
                app.push_screen(picture_screen(app))
            else:
                await pilot.press(key)
            commands = [worker for worker in app.workers if worker.group == "commands"]
            if commands:
                await asyncio.wait_for(app.workers.wait_for_complete(commands), PATIENCE_S)
            await pilot.pause()
        assert type(app.screen).__name__ == case.screen

    command_line = FakeCommands()
    command_line.prints = DOCTOR
    command_line.config_path = Path("/nonexistent/groupx.json")
    app = GroupXApp(
        FakeSession,
        MemoryDrafts(),
        WindowSetup(load_themes(Path("/nonexistent")), PreferenceFile(user_state_folder())),
        command_line=command_line,
    )
    assert snap_compare(app, terminal_size=SIZES[size], run_before=run)


def picture_screen(app: GroupXApp) -> PictureScreen:
    """A picture where none can be shown."""
    picture = Picture(Path("/home/me/chart.png"), 24, ImageHeader("PNG", 64, 32))
    terminal = Terminal(app.write_terminal, app.shows_pictures, app.cell_pixels, has_colours=False)
    return PictureScreen(app.keymap, picture, terminal)


def kinds_of_screens() -> set[str]:
    """The names of all screens of the package that are shown as they are."""
    for module in pkgutil.iter_modules(screens.__path__):
        importlib.import_module(f"{screens.__name__}.{module.name}")

    def below(kind: type[Any]) -> Iterator[type[Any]]:
        for each in kind.__subclasses__():
            yield each
            yield from below(each)

    found = {kind for kind in below(Screen) if kind.__module__.startswith(screens.__name__)}
    return {kind.__name__ for kind in found - {Dialog}}


def test_no_kind_of_screen_is_without_a_picture() -> None:
    shown = {case.screen for case in CASES.values()} | set(ELSEWHERE)
    assert kinds_of_screens() == shown


def test_screens_with_pictures_elsewhere_have_them_there() -> None:
    for name, file in ELSEWHERE.items():
        path = Path(__file__).parents[1] / file
        assert path.exists(), name
