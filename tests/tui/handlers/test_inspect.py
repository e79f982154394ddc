"""Looking closely: context, cards, events."""

from __future__ import annotations

import pytest

from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.reader import Reader
from support.does import does
from support.fake_session import FakeSession
from support.window import open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


@does("context.preview")
async def test_what_the_addressed_agent_would_be_told_with_this_draft() -> None:
    async with open_window() as window:
        await window.type("@codex look")
        await window.press("f10")
        preview = ("preview", "room:main", "agent:codex", "@codex look", None)
        assert window.session.memory.asked == [preview]
        text = window.screen_text()
        assert "What Codex would be told in Main" in text
        assert "24,000 of 96,000 characters (25%)" in text
        assert "20,000 · 12 in it · 3 left out" in text
        assert "summed up" in text
        assert text.index("messages  ") < text.index("the message"), "largest first"


@does("dialog.summary")
async def test_the_rooms_summary_is_shown_from_there_with_its_range_author_and_sizes() -> None:
    async with open_window() as window:
        await window.type("/context @codex")
        await window.press("enter", "alt+u")
        text = window.screen_text()
        for part in ("What sums up Main", "#3 to #412", "380 messages", "214,300", "1,250"):
            assert part in text
        for part in ("(0.6%)", "codex", "2026-11-30", "- The last line is kept."):
            assert part in text
        await window.press("escape")
        window.session.memory.has_older = False
        await window.type("/context @codex")
        await window.press("enter", "alt+u")
        assert "Nothing is summed up" in window.screen_text()


@does("context.compact")
async def test_the_room_is_summed_up_from_the_keyboard() -> None:
    async with open_window() as window:
        await window.type("/compact")
        await window.press("enter")
        assert window.session.memory.asked == [("compact", "room:main")]
        window.session.memory.has_older = False
        await window.type("/compact")
        await window.press("enter")
        assert "nothing to sum up" in window.screen_text()


async def test_what_is_written_beyond_the_preview_is_said() -> None:
    async with open_window() as window:
        window.app.room.composer.insert("@codex " + "word " * 300)
        await window.press("f10")
        assert "The end of your message, 508 characters, is not in it." in window.screen_text()


async def test_an_agent_is_named_or_chosen_when_several_would_get_it() -> None:
    async with open_window() as window:
        await window.type("/context @guide")
        await window.press("enter")
        assert window.session.memory.asked[0][2] == "agent:guide"
        await window.press("escape")
        await window.type("@all hi")
        await window.press("f10")
        assert isinstance(window.top, Chooser)
        await window.type("codex")
        await window.press("enter")
        assert window.session.memory.asked[1][2] == "agent:codex"


@does("context.reset")
async def test_agents_begin_anew_after_it_was_said_what_that_means() -> None:
    session = FakeSession()
    async with open_window(session) as window:
        for has_older, says in ((True, "begin anew from here"), (False, "nothing to begin anew")):
            session.memory.has_older = has_older
            await window.type("/reset")
            await window.press("enter")
            assert "Begin anew in Main?" in window.screen_text()
            assert "Messages and memory" in window.screen_text()
            await window.press("enter")
            assert says in window.toasts[-1]
        await window.type("/reset")
        await window.press("enter", "escape")
        resets = [each for each in session.memory.asked if each[0] == "reset"]
        assert resets == [("reset", "room:main")] * 2


@does("agent.card", "dialog.restart", "dialog.doctor")
async def test_a_card_says_what_is_wrong_and_what_can_be_done() -> None:
    async with open_window() as window:
        await window.type("/agent @codex")
        await window.press("enter")
        text = window.screen_text()
        for part in ("needs login", "codex login", "codex 1.2.3", "/home/me/project", "12,900"):
            assert part in text
        for part in ("gpt-5.4", "in Ideas: Nobody is signed in.", "f9 starts it again"):
            assert part in text
        await window.press("f9")
        assert window.asked("restart_agent") == [("restart_agent", "agent:codex")]
        await window.type("/agent @codex")
        await window.press("enter", "f10")
        assert window.commands.asked == [("agents", "test", "codex")]
        assert "not installed" in window.screen_text()


async def test_a_card_says_what_its_summaries_and_days_cost_beside_its_turns() -> None:
    async with open_window(size=(100, 40)) as window:
        await window.type("/agent @codex")
        await window.press("enter")
        text = window.screen_text()
        assert "3 texts, 41,200 tokens, 0.0120 USD, last 2026-11-30" in text
        assert "1 text, what it took is not told, last 2026-11-29" in text


@does("dialog.cancel")
async def test_what_an_agent_works_on_in_any_room_is_stopped_from_its_card() -> None:
    async with open_window() as window:
        memory = window.session.memory
        working = {"status": "working", "active_turn_id": "turn_9", "detail": None}
        memory.cards = (memory.cards[0].model_copy(update=working),)
        memory.failure = None
        await window.type("/agent @codex")
        await window.press("enter")
        assert "turn_9" in window.screen_text()
        assert "last error" not in window.screen_text()
        await window.press("ctrl+x")
        assert window.asked("cancel") == [("cancel", "turn_9")]
        assert window.toasts[-1] == "Codex was asked to stop."


@does("dialog.details")
async def test_the_list_of_agents_leads_to_a_card() -> None:
    async with open_window() as window:
        await window.press("f3")
        await window.type("codex")
        await window.press("f3")
        assert isinstance(window.top, Reader)
        assert "codex app-server" in window.screen_text()


async def test_an_agent_that_is_not_there_is_told() -> None:
    async with open_window() as window:
        await window.type("/agent @codx")
        await window.press("escape", "enter")
        assert "Did you mean “codex”?" in window.toasts[-1]


@does("event.inspect")
async def test_a_message_and_a_turn_are_shown_as_they_stand() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "e")
        assert '"eventId": "evt_5"' in window.screen_text()
        await window.press("escape", "up", "e")
        assert '"turnId": "turn_1"' in window.screen_text()
