"""What a text that starts with `/` means. Pure.

A word of the action table is done here; every other one is a message like any text, so agents can
have commands of their own (the built-in guide's are listed in `GUIDE_WORDS` for the completion).
`//word` sends `/word` as a message, even when the table knows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groupx_tui.actions import SLASH_WORDS, Action

GUIDE_WORDS: Final = {
    "find": ("WORDS", "Find messages that hold all the words"),
    "last": ("[N]", "The newest messages"),
    "summary": ("", "Counts and quotes from the room"),
    "rooms": ("", "All rooms of this workspace"),
    "memory": ("", "What is remembered for this room"),
    "setup": ("", "How to connect a local model or another agent"),
    "status": ("", "What the guide is connected to"),
    "help": ("", "What the guide can do"),
    "agents": ("", "Who is here and how to add one"),
}
"""Slash words that the built-in guide understands: argument and one line about each."""


def sent_word(word: str) -> str:
    """How a word of an agent's is written so that it is sent: two slashes when it is also ours."""
    return f"//{word}" if word in SLASH_WORDS else f"/{word}"


_SLASH: Final = re.compile(r"/(\S+)[ \t]*(.*)\s*\Z")


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command of this client and what was written after it."""

    action: Action
    argument: str


def parse_slash(text: str) -> SlashCommand | None:
    """Return the command that `text` is, or None when it is a message."""
    match = _SLASH.match(text.strip())
    if match is None or match[1] not in SLASH_WORDS:
        return None
    return SlashCommand(SLASH_WORDS[match[1]], match[2].strip())


def message_text(text: str) -> str:
    """The message that `text` is: `//word` loses one slash."""
    return text[1:] if text.startswith("//") else text
