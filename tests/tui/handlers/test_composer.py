"""Writing: what each key does to the text, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_tui.client.refusals import REACHED
from groupx_tui.state.model import TimelineView
from support.does import does
from support.fake_session import FakeSession, message, sample_view
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@does("composer.send")
async def test_enter_sends_to_the_default_agent() -> None:
    async with open_window() as window:
        await window.type("hello")
        assert "→ Guide" in window.screen_text()
        await window.press("enter")
        assert window.asked("send") == [("send", "hello", ("agent:guide",), None)]
        assert window.text == ""


async def test_a_named_agent_gets_it_and_is_shown_before() -> None:
    async with open_window() as window:
        await window.type("hi @codex now")
        assert "→ Codex" in window.screen_text()
        await window.press("enter")
        assert window.asked("send") == [("send", "hi @codex now", ("agent:codex",), None)]


async def test_nothing_is_sent_when_nothing_is_written() -> None:
    async with open_window() as window:
        await window.press("enter", "space", "enter")
        assert window.asked("send") == []


@pytest.mark.parametrize("key", ["ctrl+j", "alt+enter", "shift+enter"])
@does("composer.newline")
async def test_a_new_line_has_keys_of_its_own(key: str) -> None:
    async with open_window() as window:
        await window.press("a", key, "b")
        assert window.text == "a\nb"
        assert window.app.room.composer.editor.size.height == 2
        await window.press("enter")
        assert window.asked("send")[0][1] == "a\nb"


async def test_keys_that_come_in_one_burst_keep_their_order() -> None:
    async with open_window() as window:
        editor = window.app.room.composer.editor
        for key, character in [("o", "o"), ("enter", "\r"), ("t", "t"), ("x", "x"),
                               ("backspace", "\x7f"), ("ctrl+j", "\n"), ("w", "w")]:  # fmt: skip
            editor.post_message(events.Key(key, character))
        await window.settle()
        assert [asked[1] for asked in window.asked("send")] == ["o"]
        assert window.text == "t\nw"


async def test_a_refused_text_comes_back_with_its_reply() -> None:
    async with open_window() as window:
        window.session.refusal = RefusedError(
            "The queue of Guide is full.", code=ErrorCode.QUEUE_CAPACITY_REACHED
        )
        await window.type("precious")
        await window.press("enter")
        assert window.text == "precious"
        assert "queue" in window.toasts[-1]


async def test_a_refused_text_does_not_push_out_what_is_written_meanwhile() -> None:
    async with open_window() as window:
        window.app.room.composer.editor.load_text("next")
        window.app.room.composer.restore("precious", None)
        assert window.text == "precious\n\nnext"


async def test_a_refused_pending_block_is_taken_away() -> None:
    pending = message(0, "precious", is_pending=True, refusal="full")
    view = replace(sample_view(), timeline=TimelineView("room:main", (pending,)))
    async with open_window(FakeSession(view)) as window:
        window.session.refusal = RefusedError("full")
        await window.type("precious")
        await window.press("enter")
        assert window.asked("dismiss") == [("dismiss", pending.block_id)]


async def test_a_text_that_may_have_arrived_is_not_put_back_under_enter() -> None:
    async with open_window() as window:
        window.session.refusal = ServerUnreachableError("No answer.")
        await window.type("once")
        await window.press("enter")
        assert window.text == ""
        await window.press("up")
        assert window.text == "once"


async def test_a_text_that_met_no_server_comes_back_and_that_is_said() -> None:
    async with open_window() as window:
        window.session.refusal = ServerUnreachableError("None.", details={REACHED: False})
        await window.type("once")
        await window.press("enter")
        assert window.text == "once"
        assert window.toasts[-1] == (
            "Not sent, your text is back: there is no server. f5 or /start starts it."
        )


async def test_too_long_a_text_is_refused_and_kept() -> None:
    session = FakeSession(replace(sample_view(), max_message_chars=10))
    async with open_window(session) as window:
        await window.type("123456789")
        assert "1 characters left" in window.screen_text()
        await window.type("ab")
        assert "1 characters too many" in window.screen_text()
        await window.press("enter")
        assert window.text == "123456789ab"
        assert window.asked("send") == []
        assert "Your text is kept" in window.toasts[-1]


async def test_nothing_is_sent_before_it_is_known_who_is_there() -> None:
    """A name that is no agent's yet would wake nobody, and nobody would say so."""
    session = FakeSession(replace(sample_view(), agents=(), connection="connecting"))
    async with open_window(session) as window:
        await window.type("@codex hi")
        await window.press("enter")
        assert window.asked("send") == []
        assert window.text == "@codex hi"
        assert "Your text stays" in window.toasts[-1]


@does("composer.complete")
async def test_tab_and_enter_take_the_marked_candidate() -> None:
    async with open_window() as window:
        await window.type("@co")
        await window.press("tab")
        assert window.text == "@codex "
        await window.type("@g")
        await window.press("enter")
        assert window.text == "@codex @guide "
        assert window.asked("send") == []


@does("composer.up", "composer.down", "composer.back")
async def test_up_and_down_walk_the_candidates_and_escape_closes_them() -> None:
    async with open_window() as window:
        await window.type("@")
        await window.press("down", "down", "up", "tab")
        assert window.text == "@codex "
        await window.type("@")
        assert window.is_completing()
        await window.press("escape")
        assert not window.is_completing()
        assert window.place() == "composer"


async def test_enter_on_a_whole_command_runs_it() -> None:
    async with open_window() as window:
        await window.type("/help")
        await window.press("enter")
        assert window.has_dialog
        assert window.text == ""
        assert window.asked("send") == []


async def test_a_command_of_the_agent_is_sent() -> None:
    async with open_window() as window:
        await window.type("/find parser")
        await window.press("enter")
        assert window.asked("send") == [("send", "/find parser", ("agent:guide",), None)]


async def test_two_slashes_send_one() -> None:
    async with open_window() as window:
        await window.type("//help me")
        await window.press("enter")
        assert window.asked("send")[0][1] == "/help me"


@does("focus.next")
async def test_tab_goes_to_the_timeline_when_no_list_is_open() -> None:
    async with open_window() as window:
        await window.press("tab")
        assert window.place() == "timeline"
        await window.press("tab")
        assert window.place() == "composer"


@does("composer.back", "timeline.back")
async def test_escape_goes_to_the_timeline_and_back() -> None:
    async with open_window() as window:
        await window.press("escape")
        assert window.place() == "timeline"
        await window.press("escape")
        assert window.place() == "composer"


async def test_up_in_a_text_of_lines_moves_the_caret_first() -> None:
    async with open_window() as window:
        await window.type("old")
        await window.press("enter", "a", "ctrl+j", "b", "up")
        assert window.text == "a\nb"
        await window.press("up")
        assert window.text == "old"
        await window.press("down")
        assert window.text == "a\nb"


@does("composer.delete_or_quit")
async def test_ctrl_d_deletes_to_the_right_and_closes_only_when_nothing_is_written() -> None:
    async with open_window() as window:
        await window.press("a", "b", "home", "ctrl+d")
        assert window.text == "b"
        await window.press("ctrl+d", "ctrl+d")
    assert window.app.return_code == 0
    assert window.drafts.is_closed


@does("edit.undo", "edit.redo")
async def test_a_paste_is_cleaned_and_is_one_undo_step() -> None:
    async with open_window() as window:
        await window.type("x ")
        window.app.post_message(events.Paste("one\r\ntwo\x1b[31m\u202e"))
        await window.settle()
        assert window.text == "x one\ntwo␛[31m\ufffd"
        await window.press("ctrl+underscore")
        assert window.text == "x "
        await window.press("ctrl+y")
        assert window.text.endswith("\ufffd")


@pytest.mark.slow
async def test_a_megabyte_is_pasted_as_one_undo_step_and_refused_calmly() -> None:
    text = ("0123456789" * 9 + " line end\n") * 10_500
    async with open_window() as window:
        window.app.post_message(events.Paste(text))
        await window.settle()
        assert len(window.text) == len(text)
        assert "characters too many" in window.screen_text()
        await window.press("enter")
        assert window.asked("send") == []
        await window.press("ctrl+underscore")
        assert window.text == ""


@pytest.mark.parametrize("key", ["tab", "escape"])
async def test_keys_behind_one_that_leaves_the_composer_are_not_typed_into_it(key: str) -> None:
    """They come in one burst over a slow link."""
    async with open_window() as window:
        for each in (key, "up", "r"):
            window.app.post_message(events.Key(each, each if len(each) == 1 else None))
        await window.settle()
        assert window.text == ""
        assert window.app.room.composer.reply is not None
