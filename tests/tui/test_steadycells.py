"""Whatever width a terminal gives an emoji, what follows stands where it was laid out."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from groupx_tui.steadycells import steady

COLUMNS = 40
HEART, KEYCAP, FLAG = "❤️", "1️⃣", "🇩🇪"
THUMB, FAMILY, RAINBOW = "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈"
DISPUTED = (HEART, KEYCAP, FLAG, THUMB, FAMILY, RAINBOW)
TOKEN = re.compile("\x1b[78]|\x1b\\[[0-9?;]*[A-Za-z]|.", re.DOTALL)

Opinion = Callable[[str], int]


def narrow(character: str) -> int:
    """Selectors, joiners and tones are nothing; so VTE, tmux and xterm take a heart."""
    return 0 if character in "\u200d\ufe0f\u20e3" else get_character_cell_size(character)


def apart(character: str) -> int:
    """Each part of an emoji is drawn for itself; so a thumb takes four cells, a family eight."""
    return 2 if "\U0001f3fb" <= character <= "\U0001f3ff" else narrow(character)


def wide(character: str) -> int:
    """A heart takes two cells; so kitty, and the letters of flags two each."""
    return 2 if character in "❤🇩🇪" else narrow(character)


class Line:
    """One line of a terminal with an opinion: what stands in which cell."""

    def __init__(self, opinion: Opinion, before: str = "#") -> None:
        self.cells = [before] * COLUMNS
        self.next_line = 0
        self.at = self._saved = 0
        self._wraps = True
        self._opinion = opinion

    def feed(self, data: str) -> None:
        for token in TOKEN.findall(data):
            if token == "\x1b7":
                self._saved = self.at
            elif token == "\x1b8":
                self.at = self._saved
            elif token in ("\x1b[?7l", "\x1b[?7h"):
                self._wraps = token.endswith("h")
            elif token.startswith("\x1b["):
                self.at = min(self.at + int(token[2:-1]), COLUMNS - 1)
            else:
                self._draw(token)

    def _draw(self, character: str) -> None:
        width = self._opinion(character)
        if self.at + width > COLUMNS:
            self.next_line += self._wraps
            return
        if width == 0 and self.at:
            self.cells[self.at - 1] += character
        for cell in range(self.at, self.at + width):
            self.cells[cell] = character
        self.at += width


@pytest.mark.parametrize("opinion", [narrow, apart, wide])
@pytest.mark.parametrize("emoji", DISPUTED)
def test_what_follows_an_emoji_stands_where_it_was_laid_out(opinion: Opinion, emoji: str) -> None:
    line = Line(opinion)
    line.feed(steady(f"a{emoji}|{emoji}{emoji}|"))
    width = cell_len(emoji)
    assert line.cells[0] == "a"
    assert line.cells[1 + width] == "|"
    assert line.cells[2 + 3 * width] == "|"
    assert line.at == 3 + 3 * width


@pytest.mark.parametrize("opinion", [narrow, apart, wide])
@pytest.mark.parametrize("emoji", DISPUTED)
def test_nothing_of_an_earlier_frame_stays_behind_an_emoji(opinion: Opinion, emoji: str) -> None:
    line = Line(opinion, before="#")
    line.feed(steady(f"{emoji}|"))
    assert "#" not in line.cells[: cell_len(emoji) + 1]


@pytest.mark.parametrize("emoji", DISPUTED)
def test_an_emoji_at_the_edge_does_not_go_on_in_the_next_line(emoji: str) -> None:
    line = Line(apart)
    line.feed(steady("x" * (COLUMNS - cell_len(emoji)) + emoji))
    assert line.next_line == 0


@given(st.lists(st.sampled_from([*DISPUTED, "中", "é", "a", "|", "☎", " "]), max_size=15))
def test_any_line_is_the_same_in_all_terminals(pieces: list[str]) -> None:
    lines = [Line(opinion) for opinion in (narrow, apart, wide)]
    for line in lines:
        line.feed(steady("".join(pieces)))
    assert len({line.at for line in lines}) == 1
    bars = [[cell for cell, text in enumerate(line.cells) if text == "|"] for line in lines]
    assert bars[0] == bars[1] == bars[2]


@pytest.mark.parametrize(
    "data",
    [
        "plain text",
        "\x1b[1m中文 ✅ é ①\x1b[0m",
        f"\x1b]0;{HEART} title\x07",
        f"\x1b]8;;http://x/{THUMB}\x1b\\link\x1b]8;;\x1b\\",
    ],
)
def test_all_else_and_what_is_no_text_is_written_as_it_is(data: str) -> None:
    assert steady(data) == data


def test_colours_around_an_emoji_stay_in_their_order() -> None:
    written = steady(f"\x1b[31m{HEART}\x1b[0m")
    assert written.startswith("\x1b[31m\x1b7")
    assert written.endswith("\x1b[2C\x1b[0m")
    assert HEART in written
