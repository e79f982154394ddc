"""Removing a text for good in the window: from each place that shows one, asked, done, reported."""

from __future__ import annotations

import pytest
from textual import events

from groupx_shared.errors import LedgerBusyError, ServerUnreachableError
from groupx_shared.wire.assistant import AssistantMessages
from groupx_tui.screens.assistant import AssistantScreen
from groupx_tui.screens.browser import Browser
from groupx_tui.screens.chooser import Chooser
from groupx_tui.screens.reader import Reader
from groupx_tui.screens.remove import Remove
from groupx_tui.state.model import PurgeView
from support.does import does
from support.fake_removals import SECRET, purged, removed
from support.fake_session import CODEX, FakeSession, MemoryHistory, hit, message, sample_view, turn
from support.fake_side import answered, asked
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def redacted(window: Window) -> list[tuple[object, ...]]:
    return [each for each in window.session.removing.asked if each[0] == "redact"]


async def _mark_first(window: Window) -> None:
    window.app.room.timeline.focus()
    await window.press("home", "down")


@does("removal.begin")
@pytest.mark.parametrize("key", ["D", "delete"])
async def test_the_marked_message_is_shown_with_what_goes_and_what_stays(key: str) -> None:
    async with open_window() as window:
        await _mark_first(window)
        await window.press(key)
        assert isinstance(window.top, Remove)
        text = window.screen_text()
        for part in (
            "Remove this message for good?",
            SECRET,
            "quotes of it",
            "summaries and agents' days",
            "in its place",
            "exports",
            "It cannot be undone",
        ):
            assert part in text
        assert redacted(window) == []
        await window.press("enter")
        assert redacted(window) == [("redact", "evt_1", False, False)]


async def test_escape_leaves_it_as_it_is() -> None:
    async with open_window() as window:
        await _mark_first(window)
        await window.press("D", "escape")
        assert not window.has_dialog
        assert redacted(window) == []


async def test_how_far_it_goes_is_chosen() -> None:
    async with open_window() as window:
        await _mark_first(window)
        await window.press("D", "right")
        assert "Files are cleaned and searched" in window.screen_text()
        await window.press("tab", "space", "enter")
        assert redacted(window) == [("redact", "evt_1", True, True)]


async def test_afterwards_it_is_told_what_went_and_what_is_not_reached() -> None:
    async with open_window(size=(110, 40)) as window:
        await _mark_first(window)
        await window.press("D", "enter")
        assert isinstance(window.top, Reader)
        text = window.screen_text()
        for part in (
            "2 events: evt_1, evt_8",
            "1 record: mem_5",
            "cut out of 1 event: evt_3",
            "1 summary, 2 days thrown away",
            "still in old backups",
            "context reset --room main",
            "From here, /reset",
            "evt_99",
        ):
            assert part in text


async def test_a_purge_says_that_nothing_is_left_only_when_somebody_looked() -> None:
    session = FakeSession()
    async with open_window(session, size=(110, 40)) as window:
        for reply, says in (
            (purged(), "no byte of it is left"),
            (removed(purged=True), "not known any more"),
            (purged(left_in=("groupx.db",), elsewhere=("evt_7",)), "still stands in groupx.db"),
        ):
            session.removing.reply = reply
            window.app.handlers.removal.begin("evt_1")
            await window.settle()
            await window.press("right", "enter")
            assert says in window.screen_text()
            await window.press("escape")


async def test_while_it_takes_its_time_the_window_works_and_the_end_is_a_sentence() -> None:
    session = FakeSession()
    session.removing.go_on.clear()
    session.removing.reply = purged()
    async with open_window(session) as window:
        await _mark_first(window)
        await window.pilot.press("D")
        await window.until(lambda: window.has_dialog)
        await window.pilot.press("right", "enter", "i", "h", "i")
        await window.pilot.pause()
        assert (window.text, window.has_dialog) == ("hi", False)
        session.push(purge=PurgeView("evt_1", "index", 32, True, None, None, (), False, ""))
        await window.pilot.pause()
        assert "getting its bytes out of the search index · 32 steps" in window.screen_text()
        session.removing.go_on.set()
        await window.settle()
        assert not window.has_dialog  # nobody is interrupted in the middle of a word
        assert window.toasts[-1].startswith("Removed for good: 2 events, 1 record, 1 summary")
        assert "No byte of it is left in the files." in window.toasts[-1]


@does("removal.result")
async def test_the_last_report_can_be_read_again() -> None:
    async with open_window() as window:
        await window.type("/removed")
        await window.press("enter")
        assert window.toasts == ["Nothing was removed from this window yet."]
        await _mark_first(window)
        await window.press("D", "enter", "escape", "i")
        await window.type("/removed")
        await window.press("enter")
        assert "Removed for good" in window.screen_text()


async def test_a_refusal_is_said_as_it_is_and_silence_says_that_nobody_knows() -> None:
    session = FakeSession()
    async with open_window(session) as window:
        for error in (
            LedgerBusyError("A long read keeps its bytes; purge once more."),
            ServerUnreachableError("The server does not answer."),
        ):
            session.removing.refusal = error
            window.app.handlers.removal.begin("evt_1")
            await window.settle()
            await window.press("enter")
            assert window.toasts[-1].startswith(error.message)
            is_silence = isinstance(error, ServerUnreachableError)
            assert ("/redact evt_1 once more tells" in window.toasts[-1]) is is_silence
            assert not window.has_dialog


async def test_of_a_turn_one_chooses_what_and_the_answer_is_marked() -> None:
    async with open_window() as window:
        await window.press("escape", "home", "down", "down", "D")
        assert isinstance(window.top, Chooser)
        text = window.screen_text()
        for part in ("reasoning", "tool call", "grep key", "› answer"):
            assert part in text
        assert "end of a turn" not in text  # it holds no text
        await window.press("enter", "enter")
        assert redacted(window) == [("redact", "evt_3", False, False)]


async def test_what_has_not_ended_or_was_not_sent_cannot_be_removed_and_says_why() -> None:
    view = sample_view()
    pending = message(0, "on its way", is_pending=True)
    session = FakeSession(view)
    async with open_window(session) as window:
        removal = window.app.handlers.removal
        removal.block(pending)
        removal.block(turn("turn_9", CODEX))
        removal.event("evt_queued")
        await window.settle()
        assert [toast.split(":")[0] for toast in window.toasts] == [
            "This message is not on disk",
            "This turn has not ended",
            "There is no text in this that could be removed.",
        ]
        assert redacted(window) == []


@pytest.mark.parametrize(
    ("named", "removes"),
    [
        ("evt_7", "evt_7"),
        ("#4", "evt_4"),
        ("mem_5", "mem_5"),
        ("identity_2", "identity_2"),
        ("side_3", "side_3"),
    ],
)
async def test_it_is_named_by_id_or_number(named: str, removes: str) -> None:
    async with open_window() as window:
        window.session.removing.parts = []
        window.app.handlers.removal.begin(named)
        await window.settle()
        assert isinstance(window.top, Remove)
        await window.press("enter")
        assert redacted(window) == [("redact", removes, False, False)]


async def test_the_word_takes_an_id_and_says_what_an_id_is() -> None:
    async with open_window() as window:
        await window.type("/redact evt_7")
        await window.press("enter")
        assert isinstance(window.top, Remove)
        await window.press("escape", "i")
        for wrong, says in (("nonsense", "is no id and no number"), ("77", "no event 77")):
            window.app.handlers.removal.begin(wrong)
            await window.settle()
            assert says in window.toasts[-1]


@does("dialog.redact")
async def test_from_the_details_of_a_message_and_of_a_turn() -> None:
    async with open_window() as window:
        await _mark_first(window)
        await window.press("enter")
        assert "alt+r remove for good" in window.screen_text()
        await window.press("alt+r")
        assert isinstance(window.top, Remove)
        await window.press("escape", "down", "d", "alt+r")
        assert isinstance(window.top, Chooser)


async def test_from_the_event_as_it_stands_in_the_ledger() -> None:
    async with open_window() as window:
        await _mark_first(window)
        await window.press("e", "alt+r", "enter")
        assert redacted(window) == [("redact", "evt_1", False, False)]


async def test_from_a_hit_of_a_search_which_is_looked_for_again() -> None:
    session = FakeSession()
    session.found = session.found.model_copy(
        update={"hits": (hit(3, "the key is here"), hit(1, "the key there"))}
    )
    async with open_window(session) as window:
        await window.press("ctrl+f")
        await window.type("key")
        await window.press("enter", "down", "alt+r")
        assert isinstance(window.top, Remove)
        session.found = session.found.model_copy(update={"hits": (hit(3, "the key is here"),)})
        session.push(removals=1)  # in the room it is gone before its bytes are
        await window.press("enter", "escape")
        assert redacted(window) == [("redact", "evt_1", False, False)]
        assert "the key there" not in window.screen_text()
        assert "the key is here" in window.screen_text()


async def test_from_the_list_of_memory_and_from_one_record() -> None:
    async with open_window() as window:
        await window.press("f9", "alt+r")
        assert "Remove this memory record for good?" in window.screen_text()
        assert "in all its versions" in window.screen_text()
        reads = len(window.session.memory.asked)
        window.session.push(removals=1)
        await window.press("enter", "escape")
        assert redacted(window) == [("redact", "mem_5", False, False)]
        assert isinstance(window.top, Browser)
        assert len(window.session.memory.asked) > reads  # the list was read anew
        await window.type("lexer")
        await window.press("enter", "alt+r", "escape", "escape")


async def test_the_key_is_none_of_the_letters_that_one_looks_for() -> None:
    """As a terminal sends it: with its letter."""
    async with open_window() as window:
        await window.press("f9")
        window.app.post_message(events.Key("alt+r", "r"))
        await window.settle()
        assert isinstance(window.top, Remove)
        await window.press("escape")
        assert "Memory · 7" in window.screen_text()


async def test_a_day_and_a_note_are_called_so() -> None:
    async with open_window() as window:
        await window.press("f9")
        await window.type("looked at the lexer")
        await window.press("alt+r")
        assert "Remove this day of an agent for good?" in window.screen_text()
        assert "it is not written again" in window.screen_text()
        await window.press("escape")
        for _ in "looked at the lexer":
            await window.press("backspace")
        await window.type("briefly")
        await window.press("alt+r")
        assert "Remove this note about an agent for good?" in window.screen_text()


async def test_what_was_sent_is_not_offered_again_by_the_arrow_keys() -> None:
    history = MemoryHistory({"room:main": [SECRET, "other"]})
    async with open_window(history=history) as window:
        await _mark_first(window)
        await window.press("D", "enter", "escape", "i", "up", "up")
        assert window.text == "other"
        assert history.texts == {"room:main": ["other"]}


async def test_a_summary_goes_with_what_it_sums_up_and_says_so() -> None:
    async with open_window(size=(100, 30)) as window:
        await window.press("alt+i")
        await window.press("alt+u", "alt+r")
        assert window.toasts[-1].startswith("A summary goes with what it sums up")
        assert redacted(window) == []


async def test_a_request_to_the_assistant_is_chosen_and_goes_with_its_answer() -> None:
    session = FakeSession()
    talk = (
        asked("side_1", SECRET, status="completed"),
        answered("side_2", "side_1", "It is noted."),
        asked("side_3", "still at it"),
    )
    session.side.pages[None] = AssistantMessages(messages=talk)
    async with open_window(session, size=(100, 30)) as window:
        await window.press("alt+a", "alt+r")
        assert "Remove which request" in window.screen_text()
        await window.press("enter")
        assert isinstance(window.top, Remove)
        assert SECRET in window.screen_text()
        assert "it with its answer" in window.screen_text()
        session.side.pages[None] = AssistantMessages(
            messages=(asked("side_1", "[removed]", status="completed"),)
        )
        session.push(removals=1)
        await window.press("enter", "escape")
        assert redacted(window) == [("redact", "side_1", False, False)]
        assert isinstance(window.top, AssistantScreen)
        assert SECRET not in window.screen_text()
