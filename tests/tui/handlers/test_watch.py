"""Who watches whom, as a person uses it: by keys, on a fake room."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from groupx_shared.errors import RefusedError
from groupx_tui.screens.watching import WatchScreen
from groupx_tui.state.model import TurnBlock
from groupx_tui.state.streamtext import StreamText
from groupx_tui.state.watching import ADVICE
from support.does import does
from support.fake_session import CODEX, FakeSession, message, turn
from support.watched import blocks, watched_view
from support.window import Window, open_window


async def opened(window: Window) -> WatchScreen:
    """The two sides, opened by their key."""
    await window.press("alt+w")
    screen = window.top
    assert isinstance(screen, WatchScreen)
    return screen


@does("watch.show")
@pytest.mark.parametrize("size", [(80, 24), (130, 36)])
async def test_both_sides_are_there_at_every_width(size: tuple[int, int]) -> None:
    async with open_window(FakeSession(watched_view()), size=size) as window:
        screen = await opened(window)
        text = window.screen_text()
        assert "works: Codex" in text
        assert "watches: Kimi" in text
        assert "The names stay." in text
        assert "It changes names again." in text
        left = screen.query_one("#worker-side").region
        right = screen.query_one("#observer-side").region
        if size[0] < 100:
            assert left.x == right.x
            assert left.bottom <= right.y
        else:
            assert left.y == right.y
            assert left.right <= right.x


@does("watch.show")
async def test_what_is_streamed_appears_and_the_room_behind_goes_on() -> None:
    session = FakeSession(watched_view())
    async with open_window(session, size=(130, 36)) as window:
        await opened(window)
        newer = tuple(
            replace(block, text=StreamText("Now the scanner is done."))
            if isinstance(block, TurnBlock) and block.turn_id == "turn_w2"
            else block
            for block in blocks()
        )
        view = session.view
        changed = frozenset({"turn:turn_w2"})
        shown = replace(view.timeline, blocks=newer, changed=changed)
        session.push(timeline=shown)
        await window.until(lambda: "Now the scanner is done." in window.screen_text())
        await window.press("escape")
        assert "Now the scanner is done." in window.screen_text()


@does("dialog.nudge")
@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        ("taken", "Codex has it in the turn it works on."),
        ("queued", "Codex gets it as its next turn."),
        ("unknown", "Whether Codex has it is not known; it is not sent again."),
    ],
)
async def test_advice_goes_to_the_turn_at_work_and_what_became_of_it_is_said(
    delivery: Literal["taken", "queued", "unknown"], said: str
) -> None:
    session = FakeSession(watched_view())
    session.advice_delivery = delivery
    async with open_window(session) as window:
        await opened(window)
        await window.press("alt+n")
        assert "in this turn if it can be told now, else as its" in window.screen_text()
        await window.type("use the old names")
        await window.press("enter")
        assert window.asked("advise") == [("advise", "turn_w2", "use the old names")]
        assert (window.asked("send"), window.asked("cancel")) == ([], [])
        assert window.toasts == [said]
        assert isinstance(window.top, WatchScreen)


async def test_what_a_person_said_into_the_turn_stands_beside_it() -> None:
    view = watched_view()
    words = message(8, "Use the old names.", kind=ADVICE, root_id="corr_1")
    shown = replace(view.timeline, blocks=(*blocks(), words))
    async with open_window(FakeSession(replace(view, timeline=shown)), size=(130, 36)) as window:
        screen = await opened(window)
        sides = {side: lines._reader.document.blocks for side, lines in screen.sides.items()}
        assert words in sides["worker"]
        assert words not in sides["observer"]


@does("dialog.steer")
async def test_steering_stops_the_turn_after_its_message_was_taken() -> None:
    async with open_window(FakeSession(watched_view())) as window:
        await opened(window)
        await window.press("alt+s")
        await window.type("stop it")
        await window.press("enter")
        assert len(window.asked("send")) == 1
        assert window.asked("cancel") == [("cancel", "turn_w2")]


async def test_a_message_that_is_refused_stops_nothing() -> None:
    session = FakeSession(watched_view())
    async with open_window(session) as window:
        await opened(window)
        await window.press("alt+s")
        await window.type("stop it")
        session.refusal = RefusedError("The queue is full.")
        await window.press("enter")
        assert window.asked("cancel") == []
        assert "The queue is full." in window.toasts


@does("dialog.next_part", "dialog.cancel")
async def test_the_other_side_is_marked_and_stopped() -> None:
    async with open_window(FakeSession(watched_view())) as window:
        screen = await opened(window)
        await window.press("tab")
        assert screen.marked == "observer"
        await window.press("ctrl+x")
        assert window.asked("cancel") == [("cancel", "turn_o")]


async def test_when_nobody_is_at_work_that_is_said() -> None:
    view = watched_view()
    ended = tuple(
        turn(block.turn_id, CODEX, "x", order_seq=9, phase="completed", root_id="corr_1")
        if isinstance(block, TurnBlock) and block.is_open
        else block
        for block in blocks()
    )
    view = replace(view, timeline=replace(view.timeline, blocks=ended), open_turns=())
    async with open_window(FakeSession(view)) as window:
        await opened(window)
        await window.press("ctrl+x")
        assert "Nobody on this side is at work." in window.toasts


async def test_a_room_where_nobody_watches_says_how_to_have_it() -> None:
    async with open_window() as window:
        await window.press("alt+w")
        assert not window.has_dialog
        assert "f8" in window.toasts[-1]


@does("watch.show")
async def test_an_agent_can_be_named() -> None:
    async with open_window(FakeSession(watched_view())) as window:
        await window.type("/watching @kimi-k2")
        await window.press("enter")
        assert isinstance(window.top, WatchScreen)
        await window.press("escape")
        await window.type("/watching @nobody")
        await window.press("enter")
        assert not window.has_dialog
        assert "nobody" in window.toasts[-1]


async def test_reading_in_one_side_moves_nothing_behind() -> None:
    async with open_window(FakeSession(watched_view()), size=(110, 16)) as window:
        await opened(window)
        before = list(window.session.asked)
        await window.press("pageup", "up", "up", "pagedown")
        assert window.session.asked == before, "what the sides tell is not the room's"
