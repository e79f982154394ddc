"""Pictures as a person looks at them: by a key, in the window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from groupx_tui.app import GroupXApp
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.picture import PictureScreen
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import FakeSession, message, sample_view
from support.window import Window, open_window
from tui.test_picture import png


def session_with(text: str) -> FakeSession:
    view = sample_view()
    shown = TimelineView(view.room_id, (message(1, text),), 1, 1, total_messages=1)
    return FakeSession(replace(view, timeline=shown))


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the terminal past the drawing; the terminal is kitty."""
    for name in ("TMUX", "STY", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KITTY_WINDOW_ID", "1")
    sequences: list[str] = []
    monkeypatch.setattr(GroupXApp, "write_terminal", lambda _, each: sequences.append(each))
    return sequences


async def shown(window: Window) -> PictureScreen:
    await window.until(lambda: isinstance(window.top, PictureScreen))
    screen = window.top
    assert isinstance(screen, PictureScreen)
    return screen


@does("picture.show")
async def test_the_picture_that_the_marked_message_names_is_drawn_and_taken_away(
    tmp_path: Path, written: list[str]
) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(png(more=500))
    async with open_window(session_with(f"See ![it]({path}).")) as window:
        await window.press("tab", "up", "p")
        screen = await shown(window)
        await window.until(lambda: bool(written))
        place = screen.query_one(".picture-place").content_region
        assert f"\x1b[{place.y + 1};{place.x + 1}H" in written[0]
        assert "PNG, 64×32" in window.screen_text()
        await window.press("escape")
        await window.until(lambda: "a=d" in written[-1])
        assert not window.has_dialog


async def test_elsewhere_it_is_said_what_it_is_and_where(
    tmp_path: Path, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KITTY_WINDOW_ID")
    (tmp_path / "chart.png").write_bytes(png())
    async with open_window(session_with("x")) as window:
        await window.type("/picture ")
        window.app.room.composer.editor.insert(str(tmp_path / "chart.png"))
        await window.press("enter")
        await shown(window)
        assert "PNG, 64×32, 24 bytes" in window.screen_text()
        assert "shows no pictures" in window.screen_text()
        assert written == []


async def test_of_several_one_is_chosen(tmp_path: Path, written: list[str]) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(png())
    text = f"![a]({tmp_path}/a.png) ![b]({tmp_path}/b.png)"
    async with open_window(session_with(text)) as window:
        await window.press("tab", "up", "p")
        assert isinstance(window.top, Chooser)
        await window.press("enter")
        screen = await shown(window)
        assert screen.copy_text() == (f"{tmp_path}/b.png", "the path")


async def test_what_is_not_there_is_told(written: list[str]) -> None:
    async with open_window(session_with("![it](/nowhere/a.png)")) as window:
        await window.press("tab", "up", "p")
        await window.until(lambda: bool(window.toasts))
        assert "/nowhere/a.png cannot be read" in window.toasts[-1]
    async with open_window(session_with("no picture")) as window:
        await window.press("tab", "up", "p")
        assert window.toasts[-1] == "Nothing here names the file of a picture."
