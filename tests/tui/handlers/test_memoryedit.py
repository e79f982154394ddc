"""Memory in the window: added, corrected, pinned, taken back; what cannot be is said with a way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groupx_shared.errors import RefusedError
from groupx_tui.app import GroupXApp
from groupx_tui.screens.browser import Browser
from groupx_tui.screens.remember import Remember
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def asked(window: Window, what: str) -> list[tuple[object, ...]]:
    return [each for each in window.session.memory.asked if each[0] == what]


@does("dialog.add")
async def test_something_is_remembered_for_the_room() -> None:
    async with open_window() as window:
        await window.press("f9", "f2")
        await window.press("enter")
        assert "Write what is to be kept." in window.screen_text()
        await window.type("One thing")
        await window.press("ctrl+j")
        await window.type("and another")
        assert "Every agent of Main is told it" in window.screen_text()
        await window.press("enter")
        wanted = ("remember", "room", "room:main", "note", "One thing\nand another", False)
        assert asked(window, "remember") == [wanted]
        assert isinstance(window.top, Browser)
        assert "Memory · 8" in window.screen_text()
        assert window.toasts[-1] == "Remembered for Main."
        assert window.top.list.marked is not None
        assert window.top.list.marked.key == "mem_9"  # what was written has the mark


@does("dialog.next_part", "dialog.previous_part")
async def test_whose_kind_and_pinned_are_chosen_from_the_keyboard() -> None:
    async with open_window() as window:
        await window.press("f9", "f2")
        await window.type("Be brief")
        await window.press("tab", "tab", "left", "tab", "right", "enter")
        await window.press("f2")
        await window.type("Asks first")
        await window.press("tab", "right", "right", "space", "space")
        assert "who Codex is" in window.screen_text()
        assert "Codex is told it as your word" in window.screen_text()
        await window.press("shift+tab", "down", "down", "up", "enter")
        assert asked(window, "remember") == [
            ("remember", "room", "room:main", "constraint", "Be brief", True),
            ("remember", "identity", "agent:codex", "note", "Asks first", False),
        ]
        assert window.toasts[-1] == "Said of Codex."


async def test_what_is_added_belongs_to_whom_the_list_shows() -> None:
    async with open_window() as window:
        await window.press("f9", "tab")
        await window.type("codex keeps")
        await window.press("enter", "f2")
        assert "‹ what Codex keeps ›" in window.screen_text()
        await window.type("Likes tests")
        await window.press("enter")
        assert asked(window, "remember")[0][1:3] == ("core", "agent:codex")


@does("dialog.correct")
async def test_a_record_is_corrected_from_the_list_and_from_its_page() -> None:
    async with open_window() as window:
        await window.press("f9", "f7")
        await window.type(" now")
        await window.press("enter")
        assert asked(window, "correct") == [
            ("correct", "mem_5", "decision", "The parser keeps the last line now")
        ]
        await window.press("enter", "f7", "enter")
        assert len(asked(window, "correct")) == 1, "nothing was changed"


@does("dialog.pin", "dialog.retract")
async def test_a_record_is_pinned_and_taken_back() -> None:
    async with open_window() as window:
        await window.press("f9", "f6")
        assert asked(window, "pin") == [("pin", "mem_5", True)]
        assert "● decision" in window.screen_text()
        await window.press("f6", "f8")
        assert asked(window, "pin")[1:] == [("pin", "mem_5", False)]
        assert asked(window, "retract") == [("retract", "mem_5")]
        assert "The parser keeps" not in window.screen_text()


@pytest.mark.parametrize(
    ("words", "key", "said"),
    [
        ("looked", "f7", "Take it back with f8"),
        ("briefly", "f6", "written down with f2"),
    ],
)
async def test_what_cannot_be_done_is_said_with_a_way_out(words: str, key: str, said: str) -> None:
    async with open_window() as window:
        await window.press("f9")
        await window.type(words)
        await window.press(key)
        assert said in window.toasts[-1]
        assert isinstance(window.top, Browser)


async def test_what_is_history_is_not_changed() -> None:
    async with open_window() as window:
        await window.press("f9", "f8", "tab")
        await window.type("only what was taken")
        await window.press("enter")
        assert "Memory · 1" in window.screen_text()
        for number, key in enumerate(("f6", "f7", "f8"), 2):
            await window.press(key)
            assert len(window.toasts) == number
            assert "f4 shows all its versions" in window.toasts[-1]
        assert len(asked(window, "retract")) == 1


async def test_a_refusal_of_the_server_is_shown_and_the_list_stays() -> None:
    async with open_window() as window:

        async def refuse(*given: object, **more: object) -> object:
            raise RefusedError("An agent corrects only what it wrote itself.")

        window.session.memory.retract = refuse  # type: ignore[method-assign,assignment]
        await window.press("f9", "f8")
        assert window.toasts[-1] == "An agent corrects only what it wrote itself."
        assert "The parser keeps" in window.screen_text()


@does("dialog.editor")
async def test_the_text_is_written_in_the_persons_editor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\necho "from the editor" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))

    @contextmanager
    def suspend(app: GroupXApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(GroupXApp, "suspend", suspend)
    async with open_window() as window:
        await window.press("f9", "f2")
        await window.type("One ")
        await window.press("alt+e")
        await window.until(lambda: "from the editor" in window.screen_text())
        assert isinstance(window.top, Remember)
        await window.press("enter")
        assert "from the editor" in str(asked(window, "remember")[0][4])
