"""Slash words: ours are done here, all others are messages."""

from __future__ import annotations

import pytest

from groupx_server.builtin_agent.guide.commands import COMMANDS
from groupx_tui.actions import SLASH_WORDS
from groupx_tui.widgets.composer.slash import GUIDE_WORDS, message_text, parse_slash, sent_word


@pytest.mark.parametrize(
    ("text", "action", "argument"),
    [
        ("/help", "app.help", ""),
        ("  /room  My room ", "room.switch", "My room"),
        ("/new Ideas", "room.create", "Ideas"),
        ("/jump first", "timeline.jump", "first"),
        ("/restart @codex", "agent.restart", "@codex"),
    ],
)
def test_our_words_are_commands(text: str, action: str, argument: str) -> None:
    command = parse_slash(text)
    assert command is not None
    assert (command.action.id, command.argument) == (action, argument)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "/find parser",
        "/unknown",
        "//help",
        "/",
        "/ help",
        "/room a\nsecond line",
        "a /help",
    ],
)
def test_everything_else_is_a_message(text: str) -> None:
    assert parse_slash(text) is None


def test_two_slashes_send_one() -> None:
    assert message_text("//help me") == "/help me"
    assert message_text("/find x") == "/find x"


def test_the_guides_words_are_the_guides() -> None:
    assert set(GUIDE_WORDS) == {command.name for command in COMMANDS}
    for word in GUIDE_WORDS:
        assert sent_word(word) == (f"//{word}" if word in SLASH_WORDS else f"/{word}")
