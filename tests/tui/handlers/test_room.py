"""Rooms by key, by word and by list; drafts and histories stay with their room."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from textual import events

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_tui.screens.ask import Ask
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.confirm import Confirm
from groupx_tui.state.model import ClientView, TimelineView
from support.does import does
from support.fake_session import ROOMS, FakeSession, MemoryDrafts, message, sample_view
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@does("room.next", "room.previous")
async def test_next_and_previous_go_round_the_rooms_that_are_not_archived() -> None:
    async with open_window() as window:
        await window.press("alt+down", "alt+down", "ctrl+pagedown", "alt+up")
        rooms = [asked[1] for asked in window.asked("switch_room")]
        assert rooms == ["room:ideas", "room:work", "room:main", "room:work"]


async def test_with_one_room_next_tells_how_to_make_another() -> None:
    session = FakeSession(replace(sample_view(), rooms=ROOMS[:1]))
    async with open_window(session) as window:
        await window.press("alt+down")
        assert "/new" in window.toasts[-1]


@does("room.switch")
async def test_the_switcher_finds_a_room_by_letters() -> None:
    async with open_window() as window:
        await window.press("ctrl+o")
        assert isinstance(window.top, Chooser)
        await window.type("pars")
        await window.press("enter")
        assert window.asked("switch_room") == [("switch_room", "room:work")]
        assert not window.has_dialog


async def test_escape_in_the_switcher_changes_nothing() -> None:
    async with open_window() as window:
        await window.press("ctrl+o", "down", "escape")
        assert window.asked("switch_room") == []


async def test_a_room_is_named_after_the_slash_word() -> None:
    async with open_window() as window:
        await window.type("/room ideas")
        await window.press("enter")
        assert window.session.view.room_id == "room:ideas"


async def test_an_unknown_room_is_answered_with_the_nearest() -> None:
    async with open_window() as window:
        await window.type("/room ideasx")
        await window.press("enter")
        assert "“Ideas”" in window.toasts[-1]


@does("room.create")
async def test_a_new_room_is_made_and_shown() -> None:
    async with open_window() as window:
        await window.type("/new")
        await window.press("enter")
        assert isinstance(window.top, Ask)
        await window.press("enter")
        assert "at least one letter" in window.screen_text()
        await window.type("Plans")
        await window.press("enter")
        assert window.asked("create_room") == [("create_room", "Plans")]
        assert window.session.view.room_id == "room:plans"


async def test_a_new_room_can_be_named_at_once() -> None:
    async with open_window() as window:
        await window.type("/new Plans")
        await window.press("enter")
        assert window.session.view.room_id == "room:plans"


async def test_a_refused_room_is_told_and_nothing_changes() -> None:
    async with open_window() as window:
        window.session.refusal = RefusedError("There is a room “Main”.", code=ErrorCode.ROOM_EXISTS)
        await window.type("/new Main")
        await window.press("enter")
        assert window.toasts == ["There is a room “Main”."]
        assert window.session.view.room_id == "room:main"


@does("room.rename")
async def test_renaming_starts_from_the_title_it_has() -> None:
    async with open_window() as window:
        await window.type("/rename")
        await window.press("enter")
        await window.type("2")
        await window.press("enter")
        assert window.asked("change_room") == [("change_room", "room:main", "Main2", None)]
        assert "Main2" in window.screen_text()


async def test_the_main_room_is_not_archived() -> None:
    async with open_window() as window:
        await window.type("/archive")
        await window.press("enter")
        assert not window.has_dialog
        assert "always stays" in window.toasts[-1]


@does("room.archive", "dialog.accept")
async def test_archiving_asks_first_and_goes_to_another_room() -> None:
    async with open_window() as window:
        await window.press("alt+down")
        await window.type("/archive")
        await window.press("enter")
        assert isinstance(window.top, Confirm)
        await window.press("escape")
        assert window.asked("change_room") == []
        await window.type("/archive")
        await window.press("enter", "enter")
        assert window.asked("change_room") == [("change_room", "room:ideas", None, True)]
        assert window.session.view.room_id == "room:main"


@does("room.restore")
async def test_an_archived_room_is_restored_and_shown() -> None:
    async with open_window() as window:
        await window.type("/restore")
        await window.press("enter")
        await window.press("enter")
        assert window.asked("change_room") == [("change_room", "room:done", None, False)]
        assert window.session.view.room_id == "room:done"


async def test_restore_by_name_and_when_nothing_is_archived() -> None:
    async with open_window() as window:
        await window.type("/restore nothing")
        await window.press("enter")
        assert "archived room" in window.toasts[-1]
        await window.type("/restore Done")
        await window.press("tab", "enter")
        assert window.session.view.room_id == "room:done"
        await window.type("/restore x")
        await window.press("enter")
        assert "No room is archived" in window.toasts[-1]


async def test_each_room_keeps_its_draft_and_its_history() -> None:
    drafts = MemoryDrafts()
    drafts.texts["room:ideas"] = "kept from before"
    async with open_window(drafts=drafts) as window:
        await window.type("sent here")
        await window.press("enter")
        await window.type("half")
        await window.press("alt+down")
        assert window.text == "kept from before"
        await window.press("up")
        assert window.text == "kept from before"
        await window.press("alt+up")
        assert window.text == "half"
        await window.press("up")
        assert window.text == "sent here"
    assert drafts.texts["room:ideas"] == "kept from before"


async def test_what_came_while_one_was_away_is_marked() -> None:
    async with open_window() as window:
        marks: list[int | None] = []
        window.app.room.timeline.mark_unread = (  # type: ignore[method-assign]
            lambda after_seq, since=None: marks.append(after_seq)
        )
        await window.press("alt+down")
        newer = TimelineView("room:main", (message(1, "a"), message(9, "b")), 1, 9)
        window.session.push(room_id="room:main", timeline=newer)
        await window.until(lambda: bool(marks))
        assert marks == [5]
        await window.type("seen")
        await window.press("enter")
        assert marks == [5, None]


async def test_what_came_while_the_terminal_had_no_focus_is_marked_once() -> None:
    async with open_window() as window:
        marks: list[int | None] = []
        window.app.room.timeline.mark_unread = (  # type: ignore[method-assign]
            lambda after_seq, since=None: marks.append(after_seq)
        )
        window.app.post_message(events.AppBlur())
        await window.settle()
        for seq in (6, 7):
            timeline = TimelineView("room:main", (message(1, "a"), message(seq, "b")), 1, seq)
            window.session.push(timeline=timeline)
            await window.settle()
        window.app.post_message(events.AppFocus())
        await window.settle()
        assert marks == [5]


async def test_a_text_that_was_cleared_right_before_closing_is_no_draft() -> None:
    async with open_window() as window:
        await window.type("gone")
        await window.pilot.press("ctrl+c", "ctrl+c", "ctrl+c")
    assert window.drafts.texts["room:main"] == ""


async def test_what_is_typed_before_the_server_is_there_goes_on_from_the_draft() -> None:
    drafts = MemoryDrafts()
    drafts.texts["room:main"] = "kept "
    session = FakeSession(ClientView())
    async with open_window(session, drafts=drafts) as window:
        await window.type("and")
        session.push(**vars_of(sample_view()))
        await window.type("more")
        assert window.text == "kept andmore"


def vars_of(view: ClientView) -> dict[str, Any]:
    """The fields of a view."""
    return {field.name: getattr(view, field.name) for field in fields(view)}
