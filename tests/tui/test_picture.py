"""A picture's file: looked at within limits; and what a terminal is told."""

from __future__ import annotations

import base64
import fcntl
import os
import re
import struct
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.errors import WorkspaceError
from groupx_shared.imageheader import ImageHeader
from groupx_tui.picture import (
    MAX_SHOWN_BYTES,
    MAX_SIDE,
    USUAL_CELL,
    box_of,
    cell_pixels,
    erase_sequence,
    fitted,
    load,
    remove_sequence,
    show_sequence,
)


def png(width: int = 64, height: int = 32, more: int = 0) -> bytes:
    """The beginning of a PNG file, and so many bytes."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\0" * more


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (png(more=100_000), "PNG, 64×32, 98 KB"),
        (b"GIF89a" + struct.pack("<HH", 3, 4) + b"\0" * 9, "GIF, 3×4, 19 bytes"),
    ],
)
def test_a_picture_is_described_and_may_be_decoded(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    assert (load(path).words, load(path).too_large) == (words, "")


@pytest.mark.parametrize(
    ("data", "words", "why"),
    [
        (png(90_000, 90_000), "PNG, 90,000×90,000, 24 bytes", "50,000,000 pixels"),
        (b"hello", "no picture that is known here, 5 bytes", "Only PNG, JPEG, GIF and WebP"),
    ],
)
def test_what_is_not_decoded_is_described_and_why(
    tmp_path: Path, data: bytes, words: str, why: str
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    assert load(path).words == words
    assert why in load(path).too_large


def test_a_huge_file_is_not_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    os.truncate(path, MAX_SHOWN_BYTES + 1)
    assert "32 MB" in load(path).too_large


def test_a_terminal_that_does_not_tell_has_cells_of_the_usual_size() -> None:
    master, other = os.openpty()
    assert cell_pixels(other) == USUAL_CELL
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 720, 432))
    assert cell_pixels(other) == (9, 18)
    os.close(master)
    os.close(other)
    assert cell_pixels(other) == USUAL_CELL
    assert box_of(200, 20, (9, 18)) == (MAX_SIDE, 360)


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    for name in ("pipe.png", ".", "nothing.png"):
        with pytest.raises(WorkspaceError):
            load(tmp_path / name)


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


def test_cells_are_emptied_row_by_row() -> None:
    assert erase_sequence(4, 9, 30, 2) == "\x1b7\x1b[10;5H\x1b[30X\x1b8\x1b7\x1b[11;5H\x1b[30X\x1b8"


@given(st.integers(1, 100_000), st.integers(1, 100_000), st.integers(2, 400), st.integers(2, 100))
def test_a_picture_fits_whatever_its_shape(
    width: int, height: int, columns: int, rows: int
) -> None:
    wide, high = fitted(ImageHeader("PNG", width, height), columns, rows)
    assert 1 <= wide <= columns
    assert 1 <= high <= rows
    assert wide == columns or high == rows
