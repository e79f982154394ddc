"""Looking for words: hits in the order of the room, marked where they are, and never a lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupx_shared.errors import RefusedError
from groupx_shared.wire.search import SearchReply
from groupx_tui.handlers.find import note_of, pattern_of, room_query
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Chooser
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import CODEX, FakeSession, hit, message, sample_view, turn
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Most open a window."""

LONG = "\n\n".join(f"Paragraph {number} of many." for number in range(80))
BLOCKS = (
    message(1, "the parser is slow"),
    turn("turn_2", CODEX, f"{LONG}\n\nHere the Parser is named.\n\n{LONG}", order_seq=3,
         phase="completed", response_event_id="evt_3"),
    message(5, "no such word"),
    message(7, "parsers are fun"),
)  # fmt: skip


def searching() -> FakeSession:
    timeline = TimelineView("room:main", BLOCKS, 1, 7, total_messages=4)
    session = FakeSession(replace(sample_view(), timeline=timeline))
    session.found = SearchReply(
        hits=(hit(7, "parsers are fun", (0, 7)), hit(1, "the parser"), hit(3, "the Parser"))
    )
    return session


async def search(window: Window, words: str) -> None:
    if window.place() != "timeline":
        await window.press("escape")
    await window.press("slash")
    assert isinstance(window.top, Ask)
    await window.type(words)
    await window.press("enter")


@does("find.room", "find.older", "find.newer", "timeline.back")
async def test_keys_step_through_the_hits_in_the_order_of_the_room() -> None:
    async with open_window(searching()) as window:
        await search(window, "parser")
        assert window.asked("search") == [("search", "parser*", False)]
        assert "search parser  3 of 3" in window.screen_text()
        assert window.place() == "timeline"
        await window.press("n")
        assert "2 of 3" in window.screen_text()
        assert "Here the Parser is named." in window.screen_text()
        await window.press("n", "n")
        assert "1 of 3" in window.screen_text()
        assert "oldest hit" in window.toasts[-1]
        await window.press("N", "N", "N")
        assert "3 of 3" in window.screen_text()
        assert "newest hit" in window.toasts[-1]
        assert [asked[1] for asked in window.asked("jump_to_event")] == [
            "evt_7", "evt_3", "evt_1", "evt_3", "evt_7"
        ]  # fmt: skip
        await window.press("escape")
        assert "of 3" not in window.screen_text()
        assert window.place() == "timeline"
        await window.press("n")
        assert "/ looks for words" in window.toasts[-1]
        await window.press("escape")
        assert window.place() == "composer"


async def test_a_search_begins_at_what_is_being_read() -> None:
    async with open_window(searching()) as window:
        await window.press("escape", "home")
        await window.press("slash")
        await window.type("parser")
        await window.press("enter")
        assert "1 of 3" in window.screen_text() or "2 of 3" in window.screen_text()
        assert window.asked("jump_to_event")[0][1] != "evt_7"


@does("find.room")
async def test_typed_as_a_word_it_goes_on_with_the_keyboard_in_the_timeline() -> None:
    async with open_window(searching()) as window:
        await window.type("/search parser")
        await window.press("enter")
        assert window.place() == "timeline"
        await window.press("n", "slash")
        assert isinstance(window.top, Ask)
        await window.press("escape")
        assert "2 of 3" in window.screen_text()


async def test_nothing_found_is_said_and_so_is_an_index_that_is_not_ready() -> None:
    session = searching()
    async with open_window(session) as window:
        session.found = SearchReply(hits=())
        await search(window, "zzz")
        assert window.toasts[-1] == "Nothing in this room has “zzz”."
        session.found = SearchReply(hits=(), behind=9)
        await search(window, "zzz")
        assert "index is still being built" in window.toasts[-1]
        session.refusal = RefusedError("That is too long.")
        await search(window, "zzz")
        assert window.toasts[-1] == "That is too long."


async def test_another_room_ends_the_search() -> None:
    async with open_window(searching()) as window:
        await search(window, "parser")
        await window.press("alt+down")
        await window.until(lambda: "of 3" not in window.screen_text())
        assert window.app.room.timeline._reader.wanted is None


@does("find.everywhere")
async def test_all_rooms_are_searched_and_the_chosen_hit_is_shown_where_it_is() -> None:
    session = searching()
    far = hit(9, "a parser far away", (2, 8), room="room:ideas")
    session.found = SearchReply(hits=(far, hit(7, "parsers are fun")), next_cursor="x")
    session.event_rooms = {"evt_9": "room:ideas"}
    async with open_window(session, size=(100, 30)) as window:
        await window.press("ctrl+f")
        await window.type("parser")
        await window.press("enter")
        assert isinstance(window.top, Chooser)
        assert window.asked("search") == [("search", "parser", True)]
        shown = window.screen_text()
        assert "“parser” in all rooms best ones" in shown
        assert "a parser far away" in shown
        assert "Ideas 2026-11-30" in shown
        await window.press("enter")
        assert window.asked("jump_to_event") == [("jump_to_event", "evt_9")]
        assert "1 of 1 best ones" in window.screen_text()
        assert window.session.view.room_id == "room:ideas"


async def test_a_message_that_is_gone_is_told() -> None:
    session = searching()
    session.found = SearchReply(hits=(hit(99, "gone"),))
    async with open_window(session) as window:
        await search(window, "gone")
        assert "not there any more" in window.toasts[-1]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("parser", "parser*"),
        ("slow parser", "slow* parser*"),
        ("解析器", "+解析器"),
        ('"slow parser"', '"slow parser"'),
        ("+slow -fast", "+slow -fast"),
        ("self-made", "self-made*"),
        ("pars*", "pars*"),
    ],
)
def test_every_word_must_be_there_unless_it_is_asked_otherwise(typed: str, asked: str) -> None:
    assert room_query(typed) == asked


def test_what_was_typed_and_what_was_found_is_marked() -> None:
    pattern = pattern_of('+Deploy "now" -never', [hit(1, "we deployed it", (3, 11))])
    assert pattern is not None
    text = "Deploy deployed deploying NOW never"
    assert [found[0] for found in pattern.finditer(text)] == [
        "Deploy", "deployed", "deploy", "NOW"
    ]  # fmt: skip
    assert pattern_of("-x", []) is None
    odd = pattern_of("a.b(", [])
    assert odd is not None
    assert odd.search("a.b(")
    assert not odd.search("axb(")


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({}, ""),
        ({"next_cursor": "c"}, " best ones"),
        ({"capped": True}, " best ones"),
        ({"meaning": "failing", "capped": True}, " · by words alone"),
        ({"behind": 1_200}, " · 1,200 messages are not searched yet"),
    ],
)
def test_what_is_missing_is_said(more: dict[str, Any], note: str) -> None:
    assert note_of(SearchReply(hits=(), **more)) == note
