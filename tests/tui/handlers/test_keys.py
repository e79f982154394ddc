"""The person's own keys: chosen by pressing them, counting at once, kept in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.events import Key

from groupx_shared.paths import user_themes_folder
from groupx_tui.app import GroupXApp
from groupx_tui.keymap import DEFAULT_KEYS
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.presskey import PressKey, name_of_key
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def kept() -> object:
    """What is in the file."""
    return json.loads((user_themes_folder().parent / "keys.json").read_text())["keys"]


async def choose(window: Window, action: str, *keys: str) -> None:
    """Open the list, go to an action and press keys."""
    await window.type("/keys")
    await window.press("enter")
    await window.type(action)
    await window.press(*keys)


@pytest.mark.parametrize(
    ("key", "character", "name"),
    [
        ("alt+h", "h", "alt+h"),
        ("h", "h", "h"),
        ("left_parenthesis", "(", "("),
        ("upper_j", "J", "J"),
        ("space", " ", "space"),
        ("ctrl+g", "\x07", "ctrl+g"),
        ("pageup", None, "pageup"),
    ],
)
def test_a_key_is_named_as_the_table_names_it(key: str, character: str | None, name: str) -> None:
    assert name_of_key(Key(key, character)) == name


@does("setup.keys")
async def test_a_key_that_is_pressed_counts_at_once_in_every_place() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "new line", "enter", "ctrl+l", "enter", "escape")
        assert kept() == {"composer.newline": ["ctrl+l"]}
        await window.press("a", "ctrl+l", "b")
        assert window.text == "a\nb"
        await window.press("ctrl+u", "backspace", "backspace")
        await choose(window, "search all", "enter", "alt+f", "enter", "escape")
        await window.press("escape", "alt+f")
        assert isinstance(window.top, PressKey) is False
        assert window.has_dialog
        assert DEFAULT_KEYS.of("composer.newline")[0] == "ctrl+j", "the table itself stays"


async def test_what_it_takes_from_others_is_said_before_it_is_taken() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "next room", "enter", "ctrl+g")
        assert "taken from “Stop an agent's turn”, which has no key" in window.screen_text()
        await window.press("ctrl+s")
        assert "terminals use it to stop the output" in window.screen_text()
        await window.press("enter")
        assert isinstance(window.top, PressKey), "it cannot be taken"
        await window.press("n")
        assert "could not be typed any more" in window.screen_text()
        await window.press("escape")
        assert isinstance(window.top, Chooser)
        assert not (user_themes_folder().parent / "keys.json").exists()


async def test_one_more_key_and_back_to_the_default() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "next room", "f2", "alt+n", "enter")
        assert kept() == {"room.next": ["alt+down", "ctrl+pagedown", "alt+n"]}
        assert window.app.keymap.of("room.next")[-1] == "alt+n"
        assert "● Next room" in window.screen_text()
        await window.press("f8")
        assert kept() == {}
        assert window.app.keymap.of("room.next") == ("alt+down", "ctrl+pagedown")


async def test_the_key_line_shows_the_new_key() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "commands", "enter", "f12", "enter", "escape")
        assert "f12 commands" in window.screen_text()


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An editor that writes a line, and a window that can be suspended for it."""
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho \'{"keys": {"app.help": "alt+h"}}\' > "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    @contextmanager
    def suspend(app: GroupXApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(GroupXApp, "suspend", suspend)
    return script


@pytest.mark.usefixtures("editor")
async def test_what_was_written_in_the_editor_counts_at_once() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "help", "alt+e")
        await window.until(lambda: bool(window.toasts))
        assert "count from now on" in window.toasts[-1]
        await window.press("escape", "alt+h")
        assert "Help" in window.screen_text()


@pytest.fixture
def wrong_editor(editor: Path) -> None:
    """It writes an action that is not there."""
    editor.write_text('#!/bin/sh\necho \'{"keys": {"room.nxt": "alt+n"}}\' > "$1"\n')


@pytest.mark.usefixtures("wrong_editor")
async def test_a_mistake_is_told_and_the_keys_stay() -> None:
    async with open_window(size=(120, 30)) as window:
        await choose(window, "help", "alt+e")
        await window.until(lambda: bool(window.toasts))
        assert "room.next" in window.toasts[-1]
        assert window.app.keymap == DEFAULT_KEYS
        await window.press("enter", "alt+h", "enter")
        assert "stay as they are" in window.toasts[-1], "a file with a mistake is not written over"
