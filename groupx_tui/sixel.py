"""A picture as sixels: bands of six rows of pixels, one line of characters for each colour.

Pure. Invariant: what comes out is one device control string of printable characters, as long as
`width * height * colours / 6` at most; runs of one character are counted, not repeated.
Counterpart: `decoding`, which makes the palette, and the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

BAND: Final = 6
MAX_COLOURS: Final = 256
_OFFSET: Final = 0x3F
_PRINTABLE: Final = bytes(_OFFSET + bits for bits in range(64)) + bytes(192)
_RUN: Final = re.compile(rb"(.)\1{3,}", re.DOTALL)
_WHOLE: Final = re.compile(rb"\x1bP[0-9;]*q[!-~]*\x1b\\")


def encode(pixels: bytes, width: int, palette: Sequence[tuple[int, int, int]]) -> bytes:
    """Return the sixels of rows of `width` indexes into `palette` (0–255 each part)."""
    height = len(pixels) // width
    parts = [b'\x1bP0;1;0q"1;1;%d;%d' % (width, height)]
    parts += [
        b"#%d;2;%d;%d;%d" % (number, *((part * 100 + 127) // 255 for part in colour))
        for number, colour in enumerate(palette)
    ]
    for start in range(0, len(pixels), width * BAND):
        rows = pixels[start : start + width * BAND]
        lines = [b"#%d%s" % line for line in sorted(_band(rows, width).items())]
        parts.append(b"$".join(lines) + b"-")
    return b"".join([*parts, b"\x1b\\"])


def _band(rows: bytes, width: int) -> dict[int, bytes]:
    """The characters of each colour that is in these rows."""
    lines = {colour: bytearray(width) for colour in set(rows)}
    for row in range(len(rows) // width):
        bit = 1 << row
        for column, colour in enumerate(rows[row * width : (row + 1) * width]):
            lines[colour][column] |= bit
    return {
        colour: _RUN.sub(_counted, line.rstrip(b"\0").translate(_PRINTABLE))
        for colour, line in lines.items()
    }


def _counted(run: re.Match[bytes]) -> bytes:
    return b"!%d%s" % (len(run[0]), run[1])


def is_sixels(data: bytes) -> bool:
    """Whether these bytes are nothing but one picture: no other sequence can be in them."""
    return _WHOLE.fullmatch(data) is not None
