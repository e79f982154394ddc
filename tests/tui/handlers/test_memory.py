"""Memory in the window: found, narrowed, read on, read whole; its history and its source."""

from __future__ import annotations

import pytest

from groupx_tui.screens.browser import Browser
from groupx_tui.screens.reader import Reader
from groupx_tui.screens.record import how_words
from support.does import does
from support.fake_records import memory
from support.fake_session import FakeSession
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def asked(window: Window, what: str) -> list[tuple[object, ...]]:
    return [each for each in window.session.memory.asked if each[0] == what]


@does("memory.browse")
async def test_memory_and_identity_are_listed_with_whose_and_by_whom() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f9")
        assert isinstance(window.top, Browser)
        text = window.screen_text()
        for part in (
            "Memory · 7",
            "everything · what counts now",
            "decision · Main",
            "● fact · Main",
            "Codex 2026-11-30",
            "preference · Codex keeps",
            "day 2026-11-29 · Codex",
            "note · about Codex",
        ):
            assert part in text


async def test_what_could_not_be_read_is_read_when_the_server_answers_again() -> None:
    session = FakeSession()
    async with open_window(session, size=(100, 30)) as window:
        session.push(connection="reconnecting")
        session.memory.is_away = True
        await window.press("f9")
        assert "It cannot be read now" in window.screen_text()
        session.memory.is_away = False
        session.push(connection="live")
        await window.until(lambda: "Memory · 7" in window.screen_text())
        before = len(asked(window, "memory_page"))
        session.push(connection="live")
        await window.settle()
        assert len(asked(window, "memory_page")) == before, "read once, not with each view"


async def test_what_is_typed_is_looked_for_by_the_server() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f9")
        await window.type("lexer")
        queries = [each[1] for each in window.session.memory.asked]
        assert queries[-2]["words"] == queries[-1]["words"] == "lexer*"
        text = window.screen_text()
        assert "Memory · 2" in text
        assert "Knows the lexer best" in text
        assert "short functions" not in text
        await window.type("xyz")
        assert "Nothing is remembered like that." in window.screen_text()


async def test_the_word_looks_at_once() -> None:
    async with open_window() as window:
        await window.type("/memory pytest")
        await window.press("enter", "enter")
        assert isinstance(window.top, Reader)
        assert "Tests run with pytest -q" in window.screen_text()


@does("dialog.next_part")
async def test_the_list_is_narrowed_to_whose_which_kind_and_by_whom() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f9", "tab")
        await window.type("codex days")
        await window.press("enter")
        text = window.screen_text()
        assert "what Codex's days held · what counts now" in text
        assert "looked at the lexer" in text
        assert "short functions" not in text
        await window.press("tab")
        await window.type("as people say")
        await window.press("enter")
        assert "as people say" in window.screen_text()
        assert "Ask before you push" in window.screen_text()
        assert "I review, briefly" not in window.screen_text()


async def test_a_filter_that_is_on_is_marked_and_chosen_again_taken_back() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("f9")
        for _ in range(2):
            await window.press("tab")
            await window.type("decision")
            await window.press("enter")
        assert "everything · what counts now" in window.screen_text()
        await window.press("tab")
        await window.type("by codex")
        await window.press("enter", "tab")
        await window.type("by codex")
        assert " on " in window.screen_text()


async def test_more_is_read_as_one_goes_down_until_all_is_there() -> None:
    session = FakeSession()
    session.memory.records = [memory(number, f"number {number}") for number in range(250, 0, -1)]
    async with open_window(session, size=(100, 30)) as window:
        await window.press("f9")
        assert "the first 100; more come as you go down" in window.screen_text()
        for _ in range(20):
            await window.press("pagedown")
        assert "Memory · 250" in window.screen_text()
        assert "number 1 " in window.screen_text()


async def test_one_record_is_shown_whole() -> None:
    async with open_window() as window:
        await window.press("f9", "enter")
        assert isinstance(window.top, Reader)
        for part in ("The parser keeps the last line", "told to agents", "mem_5", "Codex"):
            assert part in window.screen_text()
        await window.press("escape")
        await window.type("briefly")
        await window.press("enter")
        assert "its own word" in window.screen_text()
        assert "f6 pin" not in window.screen_text()


@does("dialog.history")
async def test_the_history_of_all_and_of_one_with_what_changed() -> None:
    async with open_window() as window:
        await window.press("f9", "f8", "tab")
        await window.type("corrected")
        await window.press("enter")
        assert "with what was corrected and taken back" in window.screen_text()
        assert "✗ decision" in window.screen_text()
        await window.press("f4")
        assert "How it came about" in window.screen_text()
        assert "[-" in window.screen_text()
        assert "{+" in window.screen_text()


@does("dialog.source")
async def test_one_goes_to_the_message_that_a_record_comes_from() -> None:
    for keys in (("f9", "f5"), ("f9", "enter", "f5")):
        async with open_window() as window:
            await window.press(*keys)
            assert not window.has_dialog
            assert window.asked("jump_to_event") == [("jump_to_event", "evt_1")]
            assert window.app.room.timeline.current_block_id == "msg:evt_1"


async def test_the_source_may_be_in_another_room() -> None:
    session = FakeSession()
    session.event_rooms["evt_1"] = "room:ideas"
    async with open_window(session) as window:
        await window.press("f9", "f5")
        assert session.view.room_id == "room:ideas"


async def test_without_a_source_that_is_said() -> None:
    async with open_window() as window:
        await window.press("f9")
        await window.type("short")
        await window.press("f5")
        assert "It names no message" in window.toasts[-1]
        await window.press("enter")
        assert "f5 source" not in window.screen_text()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("web", "by hand"),
        ("mcp", "with an agent's tools"),
        ("automatic_core", "by the agent, for GroupX"),
        ("operator", "by the room assistant"),
        ("of_a_later_version", "of_a_later_version"),
    ],
)
def test_how_a_record_came_to_be_is_said_in_words(kind: str, says: str) -> None:
    assert how_words(kind) == says
