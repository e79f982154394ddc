"""The assistant's panel as a person uses it: by keys, on a fake conversation."""

from __future__ import annotations

import pytest
from textual import events

from groupx_shared.errors import RefusedError
from groupx_shared.wire.assistant import AssistantAct, AssistantFrame, AssistantMessages
from groupx_tui.screens.assistant import AssistantScreen
from groupx_tui.screens.confirm import Confirm
from groupx_tui.widgets.composer.editor import Editor
from support.does import does
from support.fake_side import AT, OFF, answered, asked
from support.window import Window, open_window

ACT = AssistantAct(act_id="act_1", tool="send", summary="to codex: look", occurred_at=AT)


async def opened(window: Window) -> AssistantScreen:
    """The panel, opened by its key."""
    await window.press("alt+a")
    await window.until(lambda: window.session.side.followers == 1)
    screen = window.top
    assert isinstance(screen, AssistantScreen)
    return screen


@does("assistant.open")
async def test_the_panel_opens_by_its_key_and_a_request_is_asked_for_the_shown_room() -> None:
    async with open_window() as window:
        await opened(window)
        await window.type("what now")
        await window.press("enter")
        assert ("ask", "what now", "room:main") in window.session.side.asked


@does("assistant.open")
async def test_words_after_the_slash_word_are_asked_at_once() -> None:
    async with open_window() as window:
        await window.type("/assistant stop it all")
        await window.press("enter")
        assert isinstance(window.top, AssistantScreen)
        assert ("ask", "stop it all", "room:main") in window.session.side.asked


async def test_an_answer_grows_and_what_was_done_is_told() -> None:
    async with open_window() as window:
        await opened(window)
        side = window.session.side
        side.say(asked("side_1", "review it"))
        side.piece("side_1", 0, "I gave it ")
        side.piece("side_1", 10, "to codex.")
        await window.until(lambda: "I gave it to codex." in window.screen_text())
        done = asked("side_1", "review it", status="completed", acts=(ACT,))
        side.say(done, answered("side_2", "side_1", "I gave it to codex. It is fine."))
        await window.until(lambda: "It is fine." in window.screen_text())
        text = window.screen_text()
        assert "· to codex: look" in text
        assert text.count("I gave it to codex.") == 1


async def test_what_it_does_now_is_told_in_a_line() -> None:
    async with open_window() as window:
        await opened(window)
        side = window.session.side
        side.say(asked("side_1", "review it"))
        side.push(AssistantFrame(type="progress", request_id="side_1", text="worker_ask"))
        await window.until(lambda: "worker_ask" in window.screen_text())


async def test_why_a_request_failed_is_told() -> None:
    async with open_window() as window:
        await opened(window)
        failed = asked("side_1", "x", status="failed", error_message="No model answers.")
        window.session.side.say(failed)
        await window.until(lambda: "failed: No model answers." in window.screen_text())


async def test_without_an_assistant_the_panel_says_how_to_get_one() -> None:
    async with open_window() as window:
        window.session.side.now = OFF
        await opened(window)
        await window.until(lambda: "It is off. Switch it on so." in window.screen_text())


async def test_a_refused_request_is_written_again() -> None:
    async with open_window() as window:
        screen = await opened(window)
        window.session.side.refusal = RefusedError("It is off.")
        await window.type("hello")
        await window.press("enter")
        assert screen.query_one(Editor).text == "hello"
        assert "It is off." in window.toasts


async def test_a_request_may_have_several_lines() -> None:
    async with open_window() as window:
        await opened(window)
        await window.type("one")
        await window.press("ctrl+j")
        await window.type("twx")
        await window.press("backspace", "o")
        assert window.session.side.asked == [("older", None)]
        await window.press("up", "end", "!", "enter")
        assert ("ask", "one!\ntwo", "room:main") in window.session.side.asked


async def test_a_large_paste_is_a_chip_and_asked_whole() -> None:
    async with open_window() as window:
        screen = await opened(window)
        pasted = "\n".join(f"line {number}" for number in range(400))
        screen.query_one(Editor).post_message(events.Paste(pasted))
        await window.settle()
        assert "[pasted" in window.screen_text()
        await window.press("enter")
        assert ("ask", pasted, "room:main") in window.session.side.asked


async def test_an_answer_is_drawn_as_the_markdown_that_it_is() -> None:
    async with open_window() as window:
        await opened(window)
        answer = "**Two** things:\n\n| who | what |\n|---|---|\n| codex | 你好 |\n"
        window.session.side.say(answered("side_2", "side_1", answer))
        await window.until(lambda: "things:" in window.screen_text())
        text = window.screen_text()
        assert "**" not in text
        assert "|---|" not in text
        assert "你好" in text


@does("assistant.cancel")
async def test_ctrl_g_stops_the_answer_under_way() -> None:
    async with open_window() as window:
        await opened(window)
        await window.press("ctrl+g")
        assert ("cancel", None) in window.session.side.asked
        assert "The assistant does nothing that could be stopped." in window.toasts


@does("assistant.clear")
async def test_the_conversation_is_forgotten_after_a_question() -> None:
    async with open_window() as window:
        await opened(window)
        window.session.side.say(asked("side_1", "old words", status="completed"))
        await window.until(lambda: "old words" in window.screen_text())
        await window.press("ctrl+t")
        assert isinstance(window.top, Confirm)
        await window.press("enter")
        assert ("clear",) in window.session.side.asked
        window.session.side.push(AssistantFrame(type="cleared"))
        await window.until(lambda: "old words" not in window.screen_text())


async def test_escape_at_that_question_forgets_nothing() -> None:
    async with open_window() as window:
        await opened(window)
        await window.press("ctrl+t", "escape")
        assert ("clear",) not in window.session.side.asked


async def test_older_messages_are_loaded_from_the_top() -> None:
    async with open_window() as window:
        side = window.session.side
        newest = asked("side_2", "newer", created_at="2026-11-30T10:00:00.000Z")
        older = asked("side_1", "far older", status="completed")
        side.pages[None] = AssistantMessages(messages=(newest,), next_before="side_2")
        side.pages["side_2"] = AssistantMessages(messages=(older,))
        await opened(window)
        await window.until(lambda: "Older messages" in window.screen_text())
        await window.press("pageup")
        await window.until(lambda: "far older" in window.screen_text())
        assert window.screen_text().index("far older") < window.screen_text().index("newer")


async def test_a_lost_connection_is_told_until_it_is_back() -> None:
    async with open_window() as window:
        await opened(window)
        window.session.side.lose("No answer in time.")
        await window.until(lambda: "No answer in time." in window.screen_text())
        window.session.side.say(asked("side_1", "on again"))
        await window.until(lambda: "on again" in window.screen_text())
        assert "No answer in time." not in window.screen_text()


async def test_closing_the_panel_ends_following_and_it_opens_again_as_it_is() -> None:
    async with open_window() as window:
        await opened(window)
        await window.press("escape")
        await window.until(lambda: window.session.side.followers == 0)
        assert not window.has_dialog
        await opened(window)


async def test_who_reads_above_is_not_moved_by_what_comes() -> None:
    async with open_window() as window:
        screen = await opened(window)
        side = window.session.side
        long = "\n".join(f"line {number}" for number in range(60))
        side.say(asked("side_1", long, status="completed"))
        await window.until(lambda: "line 59" in window.screen_text())
        await window.press("pageup", "pageup")
        place = screen.query_one("VerticalScroll").scroll_y
        later = "2026-11-30T11:00:00.000Z"
        side.say(asked("side_2", "something new", created_at=later, status="completed"))
        await window.settle()
        assert screen.query_one("VerticalScroll").scroll_y == place


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (160, 50)])
async def test_the_panel_fits_every_window(size: tuple[int, int]) -> None:
    async with open_window(size=size) as window:
        await opened(window)
        window.session.side.say(asked("side_1", "review it " * 30))
        await window.until(lambda: "review it" in window.screen_text())
        assert "Ask the assistant" in window.screen_text()
        assert "close" in window.screen_text()
