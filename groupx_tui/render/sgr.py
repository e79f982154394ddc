"""Colours in the output of terminal programs: SGR sequences become styles, nothing else does.

Takes raw escapes and their pictures (`␛[31m`), since text is cleaned before it is stored. Other
control sequences stay visible as they are. A carriage return writes the line again from its start
(progress bars), so only what was written last is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rich.color import Color
from rich.style import Style

from groupx_tui.render.row import Piece

_SGR: Final = re.compile("[\x1b\u241b]\\[([0-9;:]*)m")
_RETURN: Final = re.compile("[\r\u240d]")
_MAX_PARAMETERS: Final = 32

_ON: Final = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_OFF: Final = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("strike",),
}


class _Pen:
    """The style that the sequences so far have set."""

    def __init__(self) -> None:
        self._attributes: dict[str, bool] = {}
        self._color: Color | None = None
        self._background: Color | None = None

    def style(self) -> Style:
        return Style(color=self._color, bgcolor=self._background, **self._attributes)  # type: ignore[arg-type]  # names of flags, from the table above

    def apply(self, parameters: str) -> None:
        codes = iter([int(part or 0) for part in re.split("[;:]", parameters)][:_MAX_PARAMETERS])
        for code in codes:
            self._apply_code(code, codes)

    def _apply_code(self, code: int, following: Iterator[int]) -> None:
        if code == 0:
            self._attributes, self._color, self._background = {}, None, None
        elif code in _ON:
            self._attributes[_ON[code]] = True
        elif code in _OFF:
            for name in _OFF[code]:
                self._attributes.pop(name, None)
        elif code in (38, 39) or 30 <= code <= 37 or 90 <= code <= 97:
            self._color = _color(code, 30, following)
        elif code in (48, 49) or 40 <= code <= 47 or 100 <= code <= 107:
            self._background = _color(code, 40, following)


def _color(code: int, base: int, following: Iterator[int]) -> Color | None:
    """Return the colour of a code; `base` is the code of black, `base + 8` takes parameters."""
    offset = code - base
    if offset < 8:
        return Color.from_ansi(offset)
    if offset >= 60:
        return Color.from_ansi(offset - 60 + 8)
    if offset != 8:
        return None
    kind = next(following, 0)
    if kind == 5:
        return Color.from_ansi(min(255, next(following, 0)))
    if kind == 2:
        red, green, blue = (min(255, next(following, 0)) for _ in range(3))
        return Color.from_rgb(red, green, blue)
    return None


def terminal_pieces(output: str, base: Style) -> list[Piece]:
    """Return terminal output as styled pieces, with its line breaks."""
    text = _overwrite(output)
    pen = _Pen()
    style = base
    pieces: list[Piece] = []
    end = 0
    for found in _SGR.finditer(text):
        if found.start() > end:
            pieces.append((text[end : found.start()], style))
        pen.apply(found[1])
        style = base + pen.style()
        end = found.end()
    if end < len(text):
        pieces.append((text[end:], style))
    return pieces


def plain_output(output: str) -> str:
    """Return terminal output without its colours: for copying."""
    return _SGR.sub("", _overwrite(output))


def _overwrite(output: str) -> str:
    """Keep of each line what a carriage return did not write over."""
    if _RETURN.search(output) is None:
        return output
    return "\n".join(_last_writing(line) for line in output.split("\n"))


def _last_writing(line: str) -> str:
    parts = [part for part in _RETURN.split(line) if part]
    return parts[-1] if parts else ""
