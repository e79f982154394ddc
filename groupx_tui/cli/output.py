"""stdout: the only module of the command line that writes it (typer prints help by itself).

Data only. Text of other programs goes through `safe_text` before it comes here; JSON keeps every
character, written as an escape where a terminal could act on it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

from groupx_shared.text import safe_line

_TERMINAL_ACTS_ON: Final = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What JSON leaves as it is and a terminal, or an eye, could be led astray by."""

MAX_CELL: Final = 60
"""Widest cell of a table, in characters; `--json` has everything."""


def prepare() -> None:
    """Make stdout take any text: what its encoding lacks becomes “?” instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def write(text: str) -> None:
    """Write `text` as it is and hand it over at once (someone may be reading along)."""
    sys.stdout.write(text)
    sys.stdout.flush()


def line(text: str = "") -> None:
    """Write one line."""
    sys.stdout.write(text + "\n")


def write_bytes(data: bytes) -> None:
    """Write encoded text as it is."""
    sys.stdout.buffer.write(data)


def flush() -> None:
    """Hand over what was written; a closed pipe shows here."""
    if sys.stdout is not None:
        sys.stdout.flush()


def abandon() -> None:
    """Nobody reads stdout any more: send what is left of it nowhere, without a complaint."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def json_line(value: Any) -> None:
    """Write one JSON value on one line."""
    line(harmless_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))


def harmless_json(text: str) -> str:
    """Return the same JSON with every character that a terminal acts on as an escape."""
    return _TERMINAL_ACTS_ON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def is_terminal() -> bool:
    """Whether a person sees stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def styled(text: str, code: str) -> str:
    """Return `text` in a colour (an SGR code like `1` or `2;36`) where colours are wanted."""
    plain = not is_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, last: int = MAX_CELL) -> None:
    """Write a table, columns lined up; cells are cleaned and cut to one line. `last`: the widest
    cell of the last column."""
    cells = [
        [*(safe_line(cell, MAX_CELL) for cell in row[:-1]), safe_line(row[-1], last)]
        for row in rows
    ]
    widths = [max(map(_width, column)) for column in zip(headings, *cells, strict=True)]
    line(styled(_row(headings, widths), "2"))
    for row in cells:
        line(_row(row, widths))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Columns that `text` takes: wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum((not combining(each)) + (east_asian_width(each) in "WF") for each in text)
