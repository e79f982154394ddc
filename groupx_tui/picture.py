"""A picture's file: looked at within limits, and shown by a terminal that shows pictures.

Only kitty's protocol, and only PNG, which such a terminal decodes itself: no byte of a picture is
decoded here. Invariants: a file is opened only when a person asks for it, in a thread, if it is a
plain file and not too large; the picture is taken off the screen again by its number.
"""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from groupx_shared.errors import WorkspaceError
from groupx_shared.imageheader import HEADER_BYTES, ImageHeader, byte_words, read_header
from groupx_shared.text import safe_line
from groupx_tui.attention import is_multiplexed

MAX_SHOWN_BYTES: Final = 4 * 1024 * 1024
"""A third more goes to the terminal."""
MAX_SHOWN_PIXELS: Final = 50_000_000
"""A small file can claim more than a terminal should be asked to decode."""
PICTURE_ID: Final = 20_713
"""So that ours is taken away, and no other program's."""
CELL_RATIO: Final = 2.0
"""A cell is about twice as high as it is wide."""
_CHUNK: Final = 4096
_PROGRAMS: Final = frozenset({"ghostty", "WezTerm"})


class Picture(NamedTuple):
    """What is known of a file."""

    path: Path
    size: int
    header: ImageHeader | None
    data: bytes
    """All of it when a terminal can be given it, else nothing."""

    @property
    def words(self) -> str:
        """Type, size in pixels, bytes."""
        kind = "no picture that is known here"
        if self.header is not None:
            kind = f"{self.header.kind}, {self.header.width:,}×{self.header.height:,}"
        return f"{kind}, {byte_words(self.size)}"


def load(path: Path) -> Picture:
    """Read a picture's file. Blocks. Raises: WorkspaceError when there is no plain file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise WorkspaceError(f"{safe_line(str(path), 200)} is no plain file.")
            header = read_header(start := file.read(HEADER_BYTES))
            is_shown = (
                header is not None
                and header.kind == "PNG"
                and status.st_size <= MAX_SHOWN_BYTES
                and header.width * header.height <= MAX_SHOWN_PIXELS
            )
            data = start + file.read(MAX_SHOWN_BYTES - len(start)) if is_shown else b""
            return Picture(path, status.st_size, header, data)
    except OSError as error:
        raise WorkspaceError(
            f"{safe_line(str(path), 200)} cannot be read: {error.strerror}."
        ) from error


def shows_pictures(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is known to take kitty's protocol: others would write it as text."""
    if is_multiplexed(environ):
        return False
    is_kitty = "KITTY_WINDOW_ID" in environ or environ.get("TERM") == "xterm-kitty"
    return is_kitty or environ.get("TERM_PROGRAM") in _PROGRAMS


def fitted(header: ImageHeader, columns: int, rows: int) -> tuple[int, int]:
    """Return the cells that a picture takes at most, with its own shape."""
    wanted = header.width / header.height * CELL_RATIO
    if columns / rows > wanted:
        return max(1, round(rows * wanted)), rows
    return columns, max(1, round(columns / wanted))


def show_sequence(data: bytes, column: int, row: int, columns: int, rows: int) -> str:
    """Return what draws a PNG at a cell (from 0), the cursor left where it was."""
    encoded = base64.b64encode(data).decode("ascii")
    pieces = [encoded[at : at + _CHUNK] for at in range(0, len(encoded), _CHUNK)]
    first = f"a=T,f=100,i={PICTURE_ID},q=2,C=1,c={columns},r={rows},"
    parts = [
        f"\x1b_G{first if number == 0 else ''}m={int(number < len(pieces) - 1)};{piece}\x1b\\"
        for number, piece in enumerate(pieces)
    ]
    return f"\x1b7\x1b[{row + 1};{column + 1}H{''.join(parts)}\x1b8"


def remove_sequence() -> str:
    """Return what takes the picture off the screen and out of the terminal's memory."""
    return f"\x1b_Ga=d,d=I,i={PICTURE_ID},q=2\x1b\\"
