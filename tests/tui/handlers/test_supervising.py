"""An agent is set to watch those who get a message, from the composer."""

from __future__ import annotations

import pytest

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_tui.screens.chooser import Chooser
from support.does import does
from support.window import Window, open_window

pytestmark = pytest.mark.slow
"""Each opens a window."""


def target_line(window: Window) -> str:
    return window.app.room.composer.target_bar.left_text


@does("composer.supervise")
async def test_an_observer_is_chosen_with_what_it_shall_look_out_for() -> None:
    async with open_window() as window:
        await window.press("f8")
        assert isinstance(window.top, Chooser)
        await window.type("codex")
        await window.press("enter")
        await window.type("the tests")
        await window.press("enter")
        assert target_line(window) == "→ Guide · watched by Codex: the tests"
        await window.type("Fix it")
        await window.press("enter")
        watch = (("agent:codex",), "the tests")
        assert window.asked("send") == [("send", "Fix it", ("agent:guide",), None, watch)]
        assert target_line(window) == "→ Guide"


async def test_the_brief_may_stay_empty_and_nobody_can_be_chosen_again() -> None:
    async with open_window() as window:
        await window.press("f8")
        await window.type("codex")
        await window.press("enter", "enter")
        assert target_line(window) == "→ Guide · watched by Codex"
        await window.press("f8")
        await window.type("nobody")
        await window.press("enter")
        assert target_line(window) == "→ Guide"


async def test_an_observer_is_named_after_the_slash_word_and_escape_drops_it() -> None:
    async with open_window() as window:
        await window.type("/watch @codex mind the API")
        await window.press("enter")
        assert target_line(window) == "→ Guide · watched by Codex: mind the API"
        await window.press("escape")
        assert target_line(window) == "→ Guide"
        await window.type("/watch @codx")
        await window.press("escape", "enter")
        assert "Did you mean “codex”?" in window.toasts[-1]


async def test_one_that_gets_the_message_cannot_watch_it_and_that_is_said_before() -> None:
    async with open_window() as window:
        await window.type("/watch @codex")
        await window.press("enter", "enter")
        await window.type("@codex do it ")
        assert "Codex cannot watch itself" in target_line(window)


async def test_a_refused_message_brings_its_observer_back() -> None:
    async with open_window() as window:
        await window.type("/watch @codex x")
        await window.press("enter")
        await window.type("Fix it")
        window.session.refusal = RefusedError("No.", code=ErrorCode.QUEUE_CAPACITY_REACHED)
        await window.press("enter")
        assert window.text == "Fix it"
        assert "watched by Codex: x" in target_line(window)


async def test_a_command_leaves_what_is_answered_for_the_message_to_come() -> None:
    async with open_window() as window:
        await window.press("escape", "up", "r")
        await window.type("/watch @codex")
        await window.press("enter", "enter")
        assert window.app.room.composer.reply is not None
        assert "watched by Codex" in target_line(window)
