"""Colours of terminal output: SGR only, in either spelling of the escape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from groupx_tui.render.sgr import plain_output, terminal_pieces

_BASE = Style()


@pytest.mark.parametrize("escape", ["\x1b", "␛"])
def test_colours_and_attributes_become_styles(escape: str) -> None:
    text = f"a{escape}[1;31mb{escape}[22mc{escape}[0md{escape}[94;41me{escape}[39;49mf"
    assert terminal_pieces(text, _BASE) == [
        ("a", _BASE),
        ("b", Style(bold=True, color=Color.from_ansi(1))),
        ("c", Style(color=Color.from_ansi(1))),
        ("d", Style()),
        ("e", Style(color=Color.from_ansi(12), bgcolor=Color.from_ansi(1))),
        ("f", Style()),
    ]


def test_palette_and_true_colours_are_read() -> None:
    pieces = terminal_pieces("␛[38;5;202ma␛[48;2;1;2;3mb␛[38:2:9:9:9mc", _BASE)
    assert pieces[0][1] == Style(color=Color.from_ansi(202))
    assert pieces[1][1].bgcolor == Color.from_rgb(1, 2, 3)
    assert pieces[2][1].color == Color.from_rgb(9, 9, 9)


def test_other_sequences_stay_visible() -> None:
    assert terminal_pieces("a␛[2Jb␛]0;t␇c", _BASE) == [("a␛[2Jb␛]0;t␇c", _BASE)]


def test_a_carriage_return_writes_the_line_again() -> None:
    assert plain_output("10%␍50%␍100%\ndone␍") == "100%\ndone"


@given(st.text(alphabet="ab\n␛[0;1m38250", max_size=60))
def test_no_text_is_lost_and_nothing_breaks(text: str) -> None:
    shown = "".join(piece for piece, _ in terminal_pieces(text, _BASE))
    assert shown == plain_output(text)
    assert shown.replace("␛", "").count("a") == text.count("a")
