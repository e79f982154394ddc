"""Pictures as a person looks at them: by a key, in the window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from groupx_tui.app import GroupXApp
from groupx_tui.handlers.picture import PictureHandlers
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.picture import PictureScreen
from groupx_tui.state.model import TimelineView
from groupx_tui.terminalanswers import Shows
from groupx_tui.widgets.cellpicture import CellPicture
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
    sequences: list[str] = []
    monkeypatch.setattr(GroupXApp, "write_terminal", lambda _, each: sequences.append(each))
    say_that_it_shows(monkeypatch, "kitty")
    return sequences


def say_that_it_shows(monkeypatch: pytest.MonkeyPatch, shows: Shows) -> None:
    async def answer(_: GroupXApp) -> Shows:
        return shows

    monkeypatch.setattr(GroupXApp, "shows_pictures", answer)


def a_picture(path: Path) -> Path:
    Image.new("RGB", (64, 32), (250, 10, 10)).save(path)
    return path


async def shown(window: Window) -> PictureScreen:
    await window.until(lambda: isinstance(window.top, PictureScreen))
    screen = window.top
    assert isinstance(screen, PictureScreen)
    return screen


@does("picture.show")
async def test_the_picture_that_the_marked_message_names_is_drawn_and_taken_away(
    tmp_path: Path, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_picture(tmp_path / "chart.jpg")
    for shows, begin, end in (("kitty", "\x1b_Ga=T", "a=d"), ("sixel", "\x1bP0;1;0q", "X\x1b8")):
        say_that_it_shows(monkeypatch, shows)  # type: ignore[arg-type]
        async with open_window(session_with(f"See ![it]({path}).")) as window:
            await window.press("tab", "up", "p")
            screen = await shown(window)
            await window.until(lambda: bool(written))
            place = screen.query_one(".picture-place").content_region
            assert written[0].startswith(f"\x1b7\x1b[{place.y + 1};{place.x + 1}H{begin}")
            assert "JPEG, 64×32" in window.screen_text()
            await window.press("escape")
            await window.until(lambda end=end: end in written[-1])  # type: ignore[misc]
            assert not window.has_dialog
        written.clear()


async def test_in_colours_alone_it_is_drawn_in_characters(
    tmp_path: Path, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_picture(tmp_path / "chart.webp")
    say_that_it_shows(monkeypatch, "text")
    monkeypatch.setattr(PictureHandlers, "_has_colours", lambda _: True)
    async with open_window(session_with(f"![it]({path})")) as window:
        await window.press("tab", "up", "p")
        screen = await shown(window)
        await window.until(lambda: "▀" in window.screen_text())
        assert "drawn in characters" in window.screen_text()
        styles = {segment.style for segment in screen.query_one(CellPicture).render_line(0)}
        (style,) = styles
        assert style is not None
        assert style.color is not None
        assert style.color.triplet is not None
        assert style.color.triplet.red > 240 > 20 > style.color.triplet.green
        assert written == []


async def test_a_picture_that_cannot_be_decoded_says_so(tmp_path: Path, written: list[str]) -> None:
    path = tmp_path / "chart.png"
    path.write_bytes(png(more=500))
    async with open_window(session_with(f"![it]({path})")) as window:
        await window.press("tab", "up", "p")
        await shown(window)
        await window.until(lambda: "cannot be shown" in window.screen_text())
        assert written == []


async def test_elsewhere_it_is_said_what_it_is_and_where(
    tmp_path: Path, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say_that_it_shows(monkeypatch, "text")
    monkeypatch.setattr(PictureHandlers, "_has_colours", lambda _: False)
    (tmp_path / "chart.png").write_bytes(png())
    async with open_window(session_with("x")) as window:
        await window.type("/picture ")
        window.app.room.composer.editor.insert(str(tmp_path / "chart.png"))
        await window.press("enter")
        await shown(window)
        assert "PNG, 64×32, 24 bytes" in window.screen_text()
        await window.until(lambda: "shows no pictures" in window.screen_text())
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
