"""A picture's file: looked at within limits, and shown by a terminal that shows pictures.

Invariants: a file is opened only when a person asks for it, in a thread, if it is a plain file;
its size is read from its first bytes before anything is decoded; what is drawn past the drawing is
taken off the screen again. Counterparts: `picturework`, `terminalanswers`.
"""

from __future__ import annotations

import base64
import fcntl
import os
import stat
import struct
import termios
from pathlib import Path
from typing import IO, Final, NamedTuple

from groupx_shared.errors import WorkspaceError
from groupx_shared.imageheader import HEADER_BYTES, ImageHeader, byte_words, read_header
from groupx_shared.text import safe_line

MAX_SHOWN_BYTES: Final = 32 * 1024 * 1024
MAX_SHOWN_PIXELS: Final = 50_000_000
"""A small file can claim any number; this many take a second or two."""
PICTURE_ID: Final = 20_713
"""So that ours is taken away, and no other program's."""
CELL_RATIO: Final = 2.0
"""A cell is about twice as high as it is wide."""
USUAL_CELL: Final = (10, 20)
"""Pixels, where the terminal does not tell: what programs that draw sixels have always taken."""
MAX_SIDE: Final = 1000
"""Pixels of what is sent: more are cut off by some terminals, and slow over a line."""
_CHUNK: Final = 4096


class Picture(NamedTuple):
    """What is known of a file."""

    path: Path
    size: int
    header: ImageHeader | None

    @property
    def words(self) -> str:
        """Type, size in pixels, bytes."""
        kind = "no picture that is known here"
        if self.header is not None:
            kind = f"{self.header.kind}, {self.header.width:,}×{self.header.height:,}"
        return f"{kind}, {byte_words(self.size)}"

    @property
    def too_large(self) -> str:
        """Why it is not decoded; empty when it may be."""
        if self.header is None:
            return "Only PNG, JPEG, GIF and WebP are shown here."
        if self.header.width * self.header.height > MAX_SHOWN_PIXELS:
            return f"Pictures of up to {MAX_SHOWN_PIXELS:,} pixels are shown here."
        if self.size > MAX_SHOWN_BYTES:
            return f"Files of up to {byte_words(MAX_SHOWN_BYTES)} are shown here."
        return ""


def open_plain(path: Path) -> IO[bytes]:
    """Open a plain file to read, never waiting for it. Raises: OSError, WorkspaceError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WorkspaceError(f"{safe_line(str(path), 200)} is no plain file.")
    return os.fdopen(descriptor, "rb")


def load(path: Path) -> Picture:
    """Look at a picture's file. Blocks. Raises: WorkspaceError when there is no plain file."""
    try:
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            return Picture(path, size, read_header(file.read(HEADER_BYTES)))
    except OSError as error:
        raise WorkspaceError(
            f"{safe_line(str(path), 200)} cannot be read: {error.strerror}."
        ) from error


def cell_pixels(descriptor: int) -> tuple[int, int]:
    """Return how many pixels a cell of this terminal is wide and high, as far as it tells."""
    try:
        told = fcntl.ioctl(descriptor, termios.TIOCGWINSZ, b"\0" * 8)
    except OSError:
        return USUAL_CELL
    rows, columns, width, height = struct.unpack("HHHH", told)
    if not (rows and columns and width >= columns and height >= rows):
        return USUAL_CELL
    return width // columns, height // rows


def fitted(header: ImageHeader, columns: int, rows: int) -> tuple[int, int]:
    """Return the cells that a picture takes at most, with its own shape."""
    wanted = header.width / header.height * CELL_RATIO
    if columns / rows > wanted:
        return max(1, round(rows * wanted)), rows
    return columns, max(1, round(columns / wanted))


def box_of(columns: int, rows: int, cell: tuple[int, int]) -> tuple[int, int]:
    """Return the pixels that a picture may take in so many cells."""
    return min(columns * cell[0], MAX_SIDE), min(rows * cell[1], MAX_SIDE)


def show_sequence(data: bytes, column: int, row: int, columns: int, rows: int) -> str:
    """Return what draws a PNG at a cell (from 0) in kitty's way, the cursor left where it was."""
    encoded = base64.b64encode(data).decode("ascii")
    pieces = [encoded[at : at + _CHUNK] for at in range(0, len(encoded), _CHUNK)]
    first = f"a=T,f=100,i={PICTURE_ID},q=2,C=1,c={columns},r={rows},"
    parts = [
        f"\x1b_G{first if number == 0 else ''}m={int(number < len(pieces) - 1)};{piece}\x1b\\"
        for number, piece in enumerate(pieces)
    ]
    return _at(column, row, "".join(parts))


def remove_sequence() -> str:
    """Return what takes kitty's picture off the screen and out of the terminal's memory."""
    return f"\x1b_Ga=d,d=I,i={PICTURE_ID},q=2\x1b\\"


def sixel_sequence(sixels: bytes, column: int, row: int) -> str:
    """Return what draws sixels at a cell (from 0), the cursor left where it was."""
    return _at(column, row, sixels.decode("ascii"))


def erase_sequence(column: int, row: int, columns: int, rows: int) -> str:
    """Return what empties cells: sixels go with the cells that they are in."""
    return "".join(_at(column, row + more, f"\x1b[{columns}X") for more in range(rows))


def _at(column: int, row: int, sequence: str) -> str:
    return f"\x1b7\x1b[{row + 1};{column + 1}H{sequence}\x1b8"
