"""One text that holds each kind of character that acts on a terminal, and how to find them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from groupx_tui.state.streamtext import StreamText

HOSTILE = (
    "\x1b[31mred\x1b[2J"  # CSI: colour, clear the screen
    "\x1b]52;c;ZXZpbA==\x07"  # OSC 52: the clipboard
    "\x1b]0;title\x1b\\"  # OSC 0: the window's title
    "\x1bPq#0\x1b\\"  # DCS: sixel
    "\x9b1A\x9d8;;http://x\x9c"  # C1: CSI and OSC in one byte
    "\x00\x08\x0b\x0c\r\x0e\x7f"  # C0 and DEL
    "\u202eevil\u202c\u2066x\u2069\u200f"  # bidirectional overrides and isolates
    "\u2028line"
)


def unsafe_characters(text: str) -> set[str]:
    """Characters in `text` that a terminal would act on; newline and tab are fine."""
    return {
        character
        for character in text
        if (ord(character) < 32 and character not in "\n\t")
        or 0x7F <= ord(character) <= 0x9F
        or 0x202A <= ord(character) <= 0x202E
        or 0x2066 <= ord(character) <= 0x2069
        or character in "\u200e\u200f\u061c\u2028\u2029"
    }


def strings_in(value: Any) -> Iterator[str]:
    """Every string in a view, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, StreamText):
        yield str(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from strings_in(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings_in(key)
            yield from strings_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings_in(item)
