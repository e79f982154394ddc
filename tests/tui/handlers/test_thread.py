"""Exchanges of agents: opened, shown as a tree, gone along, stopped, let go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_tui.client.lineage import Lineage
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.confirm import Confirm
from groupx_tui.state.model import Author, Block, ClientView, NoticeBlock, TimelineView, TurnBlock
from support.does import does
from support.fake_session import AT, CODEX, GUIDE, FakeSession, message, sample_view, turn
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""

ROOT = "corr_1"
BY_CODEX = Author("agent:codex", "Codex", "agent")


def exchange(*, is_open: bool = False) -> tuple[Block, ...]:
    """A person asks Codex, who asks Guide."""
    end = {"phase": "running"} if is_open else {"phase": "completed", "ended_at": AT}
    asked = turn("turn_4", GUIDE, "the lexer is fine", queued_seq=4, hop_count=1, root_id=ROOT,
                 source_event_id="evt_3", parent_turn_id="turn_2",
                 order_seq=None if is_open else 5, **end)  # fmt: skip
    first = turn("turn_2", CODEX, "all is fine", queued_seq=2, root_id=ROOT,
                 source_event_id="evt_1", order_seq=None if is_open else 6, **end)  # fmt: skip
    return (
        message(1, "Is the parser fine?", to=("Codex",), root_id=ROOT),
        message(3, "Look at the lexer", BY_CODEX, to=("Guide",), root_id=ROOT),
        *((first, asked) if is_open else (asked, first)),
    )


def view_of(*blocks: Block) -> ClientView:
    timeline = TimelineView("room:main", blocks, 1, 6, total_messages=4)
    open_turns = tuple(block for block in blocks if isinstance(block, TurnBlock) and block.is_open)
    return replace(sample_view(), timeline=timeline, open_turns=open_turns)


def marked(window: Window) -> str | None:
    return window.app.room.timeline.current_block_id


@does("thread.toggle", "thread.toggle_all")
async def test_an_exchange_is_opened_and_closed_from_any_part_of_it() -> None:
    async with open_window(FakeSession(view_of(*exchange()))) as window:
        assert "▸ Codex asked Guide · answered" in window.screen_text()
        assert "the lexer is fine" not in window.screen_text()
        await window.press("escape", "home", "t")
        assert "the lexer is fine" in window.screen_text()
        await window.press("t")
        assert "the lexer is fine" not in window.screen_text()
        await window.press("T")
        assert "▾ Codex asked Guide" in window.screen_text()
        await window.press("T")
        assert "▸ Codex asked Guide" in window.screen_text()


async def test_enter_on_the_line_opens_it() -> None:
    async with open_window(FakeSession(view_of(*exchange()))) as window:
        await window.press("escape", "up", "up", "enter")
        assert marked(window) == f"thread:{ROOT}"
        assert "↳ Guide · answered" in window.screen_text()


async def test_a_message_that_called_nobody_has_none_to_open() -> None:
    async with open_window() as window:
        await window.press("escape", "home", "t")
        assert "No agent called" in window.toasts[-1]


@does("thread.tree")
async def test_the_tree_shows_who_asked_whom_and_goes_there() -> None:
    async with open_window(FakeSession(view_of(*exchange())), size=(100, 30)) as window:
        await window.press("escape", "end", "w")
        assert isinstance(window.top, Chooser)
        lines = [line.strip(" │") for line in window.screen_text().splitlines()]
        tree = [line for line in lines if "Codex" in line or "Guide" in line]
        assert [line for line in tree if "└" in line or "You → Codex" in line] != []
        text = window.screen_text()
        for part in ("You → Codex", "└ Codex", "  └ Codex → Guide", "    └ Guide"):
            assert part in text
        assert "answered: the lexer is fine" in text
        await window.type("lexer is")
        await window.press("enter")
        assert not window.has_dialog
        assert marked(window) == "turn:turn_4"
        assert "↳ Guide · answered" in window.screen_text()


async def test_the_tree_shows_what_is_not_loaded_and_goes_there() -> None:
    blocks = exchange()
    session = FakeSession(view_of(*blocks[:2]))
    session.push(timeline=replace(session.view.timeline, has_more_after=True))
    session.lineages[ROOT] = Lineage(list(blocks), is_whole=False)
    async with open_window(session, size=(100, 30)) as window:
        await window.press("escape", "home", "w")
        assert "answered: the lexer is fine" in window.screen_text()
        assert "goes on for longer" in window.toasts[-1]
        await window.type("lexer is")
        await window.press("enter")
        assert window.asked("jump") == [("jump", 5)]


async def test_the_tree_can_be_asked_for_while_writing() -> None:
    async with open_window(FakeSession(view_of(*exchange()))) as window:
        await window.type("/thread")
        await window.press("enter")
        assert "Who asked whom" in window.screen_text()


@does("thread.older", "thread.newer")
async def test_one_goes_along_an_exchange() -> None:
    async with open_window(FakeSession(view_of(*exchange()))) as window:
        await window.press("escape", "up", "up", "up", "right_parenthesis")
        assert marked(window) == "msg:evt_3"
        await window.press("right_parenthesis")
        assert marked(window) == "turn:turn_4"
        await window.press("right_parenthesis", "right_parenthesis")
        assert marked(window) == "turn:turn_2"
        assert "last part" in window.toasts[-1]
        await window.press(*["left_parenthesis"] * 4)
        assert marked(window) == "msg:evt_1"
        assert "first part" in window.toasts[-1]


@does("thread.stop")
async def test_all_that_a_message_led_to_is_stopped_after_a_question() -> None:
    async with open_window(FakeSession(view_of(*exchange(is_open=True)))) as window:
        await window.press("escape", "X")
        assert isinstance(window.top, Confirm)
        assert "2 turns are open: Codex, Guide." in window.screen_text()
        await window.press("escape")
        assert window.asked("cancel_root") == []
        await window.press("X", "enter")
        assert window.asked("cancel_root") == [("cancel_root", ROOT)]
        assert "2 turns are stopped, or asked to stop." in window.toasts[-1]


async def test_stopping_while_writing_takes_the_newest_message_that_is_worked_on() -> None:
    async with open_window(FakeSession(view_of(*exchange(is_open=True)))) as window:
        await window.type("/stop")
        await window.press("enter", "enter")
        assert window.asked("cancel_root") == [("cancel_root", ROOT)]
        window.session.push(open_turns=())
        await window.type("/stop")
        await window.press("enter")
        assert "Nothing that this message led to" in window.toasts[-1]


def stopped_loop() -> ClientView:
    notice = NoticeBlock(
        "note:evt_7", 7, AT, "Codex and Guide called each other 20 times", "warning", ROOT,
        "stopped",
    )  # fmt: skip
    return view_of(*exchange(), notice)


async def test_a_stopped_loop_goes_on_by_one_key_on_it() -> None:
    async with open_window(FakeSession(stopped_loop())) as window:
        assert "C lets them go on" in window.screen_text()
        await window.press("escape", "up", "C")
        assert window.asked("continue_root") == [("continue_root", ROOT)]


async def test_a_stopped_loop_goes_on_by_a_word_unless_somebody_let_it() -> None:
    async with open_window(FakeSession(stopped_loop())) as window:
        await window.type("/continue")
        await window.press("enter")
        assert window.asked("continue_root") == [("continue_root", ROOT)]
        gone_on = NoticeBlock("note:evt_8", 8, AT, "You let them", "info", ROOT, "continued")
        blocks = (*window.session.view.timeline.blocks, gone_on)
        window.session.push(timeline=replace(window.session.view.timeline, blocks=blocks))
        await window.settle()
        await window.type("/continue")
        await window.press("enter")
        assert len(window.asked("continue_root")) == 1
