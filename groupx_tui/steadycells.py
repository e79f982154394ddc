"""Keeps what follows an emoji in its cell, whatever width the terminal gives the emoji.

Terminals disagree about emoji of several code points: a heart with a variation selector takes one
cell or two, a thumb with a skin tone two or four, a family two or eight. What is laid out follows
one opinion (Rich's). Invariant: each such emoji is written into cells that were blanked, and the
cursor is then put where the layout has it, so no opinion moves what stands right of it or leaves
something of an earlier frame behind it. Counterpart: the drivers, which pass all they write here.
"""

from __future__ import annotations

import re
from typing import Final

from groupx_tui.render.clusters import COMPOSED, clusters

_CONTROL: Final = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]P_^X].*?(?:\x07|\x1b\\\\)|[ -/]*[0-~])", re.DOTALL
)
_SAVE, _BACK = "\x1b7", "\x1b8"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
"""An emoji that comes wider than its cells must not go on in the next line."""


def steady(data: str) -> str:
    """Return what to write in place of `data`, text with control sequences."""
    if data.isascii() or COMPOSED.search(data) is None:
        return data
    pieces: list[str] = []
    start = 0
    for control in _CONTROL.finditer(data):
        pieces += (_steady_text(data[start : control.start()]), control[0])
        start = control.end()
    return "".join((*pieces, _steady_text(data[start:])))


def _steady_text(text: str) -> str:
    if COMPOSED.search(text) is None:
        return text
    return "".join(_kept_in_place(text[start:end], cells) for start, end, cells in clusters(text))


def _kept_in_place(cluster: str, cells: int) -> str:
    if not cells or COMPOSED.search(cluster) is None:
        return cluster
    blank = " " * cells
    return f"{_SAVE}{blank}{_BACK}{_NO_WRAP}{cluster}{_WRAP}{_BACK}\x1b[{cells}C"
