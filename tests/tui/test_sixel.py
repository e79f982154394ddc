"""Sixels: what a terminal reads in them is the picture, and nothing else can be in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.sixel import encode, is_sixels
from support.sixel_reader import read_sixels

PALETTE = [(0, 0, 0), (255, 0, 0), (0, 255, 0), (255, 255, 255)]
PERCENT = [(0, 0, 0), (100, 0, 0), (0, 100, 0), (100, 100, 100)]


@given(st.integers(1, 40), st.integers(1, 20), st.data())
def test_a_terminal_reads_every_pixel(width: int, height: int, data: st.DataObject) -> None:
    pixels = bytes(data.draw(st.lists(st.integers(0, 3), min_size=width * height,
                                      max_size=width * height)))  # fmt: skip
    written = encode(pixels, width, PALETTE)
    assert is_sixels(written)
    size, read = read_sixels(written)
    assert size == (width, height)
    assert read == {(at % width, at // width): PERCENT[colour] for at, colour in enumerate(pixels)}


def test_runs_are_counted() -> None:
    assert len(encode(bytes(1000 * 600), 1000, PALETTE)) < 1500


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x1bPq~~",
        b"\x1bPq~\x1b]52;c;eA==\x07~\x1b\\",
        b"\x1bPq~\x9d52~\x1b\\",
        b"\x1bPq~\x1b\\\x1b[2J",
        b"\x1b]0;x\x1b\\",
    ],
)
def test_what_holds_anything_else_is_not_taken_for_sixels(data: bytes) -> None:
    assert not is_sixels(data)
