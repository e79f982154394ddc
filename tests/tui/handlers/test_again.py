"""Taking turns up again and taking waiting ones back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_tui.screens.chooser import Chooser
from groupx_tui.state.model import ClientView, TimelineView
from support.does import does
from support.fake_session import CODEX, GUIDE, FakeSession, message, sample_view, turn
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

FAILED = turn("turn_2", CODEX, "half", order_seq=9, phase="failed", certainty="delivered")
CANCELLED = turn("turn_3", GUIDE, order_seq=10, phase="cancelled", certainty="not_delivered")
ANSWERED = turn("turn_4", GUIDE, "yes", order_seq=11, phase="completed", response_event_id="e")
QUEUED = turn("turn_5", CODEX, phase="queued", queue_position=1, source_event_id="evt_5")


def showing(*blocks: Any) -> FakeSession:
    timeline = TimelineView("room:main", blocks, 1, 12, total_messages=len(blocks))
    view: ClientView = replace(sample_view(), timeline=timeline)
    return FakeSession(view)


@does("turn.retry")
async def test_the_marked_turn_is_retried_and_the_end_followed() -> None:
    async with open_window(showing(FAILED, CANCELLED)) as window:
        assert "R retry · C continue" in window.screen_text()
        await window.press("escape", "up", "R")
        assert window.asked("retry") == [("retry", "turn_3")]
        await window.press("up", "R")
        assert window.asked("retry")[1:] == [("retry", "turn_2")]
        assert window.app.room.timeline.is_following


@does("turn.continue")
async def test_a_turn_that_had_begun_goes_on_and_another_does_not() -> None:
    async with open_window(showing(FAILED, CANCELLED)) as window:
        await window.press("escape", "up", "C")
        assert not window.asked("go_on")
        assert "without an answer" in window.toasts[-1]
        await window.press("up", "C")
        assert window.asked("go_on") == [("go_on", "turn_2")]


@does("turn.retry", "turn.continue")
async def test_typed_it_means_the_newest_one_or_that_of_the_named_agent() -> None:
    async with open_window(showing(FAILED, CANCELLED, ANSWERED)) as window:
        await window.type("/retry")
        await window.press("enter")
        await window.type("/retry @codex")
        await window.press("enter")
        assert window.asked("retry") == [("retry", "turn_3"), ("retry", "turn_2")]
        await window.type("/continue")
        await window.press("enter")
        assert window.asked("go_on") == [("go_on", "turn_2")]


async def test_an_unknown_agent_is_named_and_a_refusal_is_said() -> None:
    session = showing(FAILED)
    async with open_window(session) as window:
        await window.type("/retry @zzz")
        await window.press("enter")
        assert "zzz" in window.toasts[-1]
        session.refusal = RefusedError("The queue is full.", code=ErrorCode.QUEUE_CAPACITY_REACHED)
        await window.type("/retry")
        await window.press("enter")
        assert window.toasts[-1] == "The queue is full."


async def test_with_only_answered_turns_there_is_nothing_to_retry() -> None:
    async with open_window(showing(ANSWERED)) as window:
        await window.press("escape", "R")
        assert "No turn here can be retried" in window.toasts[-1]


@does("turn.details", "dialog.retry", "dialog.continue")
async def test_the_details_offer_both() -> None:
    async with open_window(showing(FAILED), size=(100, 30)) as window:
        await window.press("escape", "d")
        assert "ctrl+r retry   ctrl+e continue" in window.screen_text()
        await window.press("ctrl+r")
        assert not window.has_dialog
        await window.press("d", "ctrl+e")
        assert window.asked("retry") == [("retry", "turn_2")]
        assert window.asked("go_on") == [("go_on", "turn_2")]


async def test_the_details_of_an_answered_turn_offer_neither() -> None:
    async with open_window(showing(ANSWERED)) as window:
        await window.press("escape", "d", "ctrl+r", "ctrl+e")
        assert window.has_dialog
        assert not window.asked("retry")
        assert not window.asked("go_on")


@does("turn.cancel")
async def test_a_waiting_message_is_taken_back_into_the_composer() -> None:
    session = showing(message(5, "look at it", to=("Codex",)), QUEUED)
    session.messages = {
        "evt_5": message(5, "look at @codex", to=("Codex",), reply_to_event_id="evt_1"),
        "evt_1": message(1, "What is it?"),
    }
    session.cancel_status = "cancelled"
    async with open_window(session) as window:
        assert "ctrl+g takes it back" in window.screen_text()
        await window.type("and more")
        await window.press("ctrl+g")
        assert window.text == "look at @codex\n\nand more"
        assert window.app.room.composer.reply is not None


async def test_a_message_that_others_have_too_stays_where_it_is() -> None:
    session = showing(QUEUED)
    session.messages = {"evt_5": message(5, "look", to=("Codex", "Guide"))}
    session.cancel_status = "cancelled"
    async with open_window(session) as window:
        await window.press("ctrl+g")
        assert window.text == ""
        assert window.toasts[-1] == "Taken back from Codex; Guide still has it."


async def test_a_turn_that_the_agent_took_meanwhile_is_stopped_and_that_is_said() -> None:
    async with open_window(showing(QUEUED)) as window:
        await window.press("ctrl+g")
        assert window.text == ""
        assert window.toasts[-1] == "Codex has it already, and was asked to stop."


async def test_what_an_agent_asked_never_becomes_a_persons_text() -> None:
    session = showing(replace(QUEUED, hop_count=1))
    session.cancel_status = "cancelled"
    async with open_window(session) as window:
        await window.press("ctrl+g")
        assert not window.asked("whole_message")
        assert window.text == ""


async def test_in_another_room_by_then_the_text_is_not_put_there() -> None:
    session = showing(replace(QUEUED, room_id="room:ideas"))
    session.messages = {"evt_5": message(5, "look", to=("Codex",))}
    session.cancel_status = "cancelled"
    async with open_window(session) as window:
        await window.press("ctrl+g")
        assert window.text == ""


@does("turn.cancel")
async def test_the_list_of_turns_says_which_still_wait() -> None:
    async with open_window(showing(turn("turn_6", GUIDE), QUEUED)) as window:
        await window.press("ctrl+g")
        assert isinstance(window.top, Chooser)
        assert "queued: waits for the agent" in window.screen_text()


async def test_the_list_of_turns_says_what_each_is_about() -> None:
    asked = [message(seq, text, to=("Codex",)) for seq, text in ((5, "first"), (6, "the\nother"))]
    waiting = [
        replace(QUEUED, turn_id=f"turn_{each.event_id}", block_id=f"turn:{each.event_id}",
                source_event_id=each.event_id)
        for each in asked
    ]  # fmt: skip
    async with open_window(showing(*asked, *waiting)) as window:
        await window.press("ctrl+g")
        assert "queued · “first”" in window.screen_text()
        assert "queued · “the other”" in window.screen_text()
