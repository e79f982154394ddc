"""A picture's file: looked at within limits; and what a terminal is told."""

from __future__ import annotations

import base64
import os
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.errors import WorkspaceError
from groupx_shared.imageheader import ImageHeader
from groupx_tui.picture import (
    MAX_SHOWN_BYTES,
    fitted,
    load,
    remove_sequence,
    show_sequence,
    shows_pictures,
)


def png(width: int = 64, height: int = 32, more: int = 0) -> bytes:
    """The beginning of a PNG file, and so many bytes."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\0" * more


def test_a_png_is_read_whole_and_described(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png(more=100_000))
    picture = load(path)
    assert picture.data == path.read_bytes()
    assert picture.words == "PNG, 64×32, 98 KB"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GIF89a" + struct.pack("<HH", 3, 4) + b"\0" * 9, "GIF, 3×4, 19 bytes"),
        (png(90_000, 90_000), "PNG, 90,000×90,000, 24 bytes"),
        (png(more=MAX_SHOWN_BYTES), "PNG, 64×32, 4 MB"),
        (b"hello", "no picture that is known here, 5 bytes"),
    ],
)
def test_what_a_terminal_is_not_given_is_described(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    assert (load(path).data, load(path).words) == (b"", words)


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("pipe.png", ".", "nothing.png"):
        with pytest.raises(WorkspaceError):
            load(tmp_path / name)


@pytest.mark.parametrize(
    ("environ", "is_so"),
    [
        ({"KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM_PROGRAM": "ghostty"}, True),
        ({"TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal", "TERM": "xterm-256color"}, False),
        ({"TERM_PROGRAM": "groupx-web", "TERM": "xterm-256color"}, False),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "x", "TERM": "tmux-256color"}, False),
        ({}, False),
    ],
)
def test_only_terminals_that_are_known_to_show_pictures_are_given_one(
    environ: dict[str, str], is_so: bool
) -> None:
    assert shows_pictures(environ) is is_so


def test_the_sequence_holds_the_whole_file_in_small_pieces_and_keeps_the_cursor() -> None:
    data = png(more=20_000)
    written = show_sequence(data, 4, 9, 30, 8)
    assert written.startswith("\x1b7\x1b[10;5H\x1b_Ga=T,f=100,")
    assert written.endswith("\x1b\\\x1b8")
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", written)
    assert all(len(piece) <= 4096 for _, piece in pieces)
    assert [keys[-3:] for keys, _ in pieces[:-1]] == ["m=1"] * (len(pieces) - 1)
    assert pieces[-1][0] == "m=0"
    assert base64.b64decode("".join(piece for _, piece in pieces)) == data
    assert "c=30,r=8," in written
    assert "a=d,d=I" in remove_sequence()


@given(st.integers(1, 100_000), st.integers(1, 100_000), st.integers(2, 400), st.integers(2, 100))
def test_a_picture_fits_whatever_its_shape(
    width: int, height: int, columns: int, rows: int
) -> None:
    wide, high = fitted(ImageHeader("PNG", width, height), columns, rows)
    assert 1 <= wide <= columns
    assert 1 <= high <= rows
    assert wide == columns or high == rows
