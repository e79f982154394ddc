"""What a layout makes: rows of a terminal, with what is needed to select, copy and anchor them.

Invariant: joining `text + joiner` of all rows of a layout gives its logical text, the same at any
width (tables excepted); so a place in the text (`Row.at`) finds its row again after a resize.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.style import Style
from textual.strip import Strip

Piece = tuple[str, Style]
"""Text without line breaks, and how it is drawn."""


@dataclass(slots=True)
class Row:
    """One line of the terminal."""

    strip: Strip
    """From the left edge; not longer than the layout's width (the drawer pads it)."""
    text: str = ""
    """The logical text that stands in the row."""
    start: int = 0
    """Cell column where `text` begins."""
    joiner: str = "\n"
    """What stands between this text and the next row's: a line break, or what wrapping took."""
    at: int = 0
    """Logical place, in characters from the start of the layout; grows from row to row."""
    fill: Style | None = None
    """Style of the rest of the line, when it is not the base's."""
    drawn: dict[object, Strip] = field(default_factory=dict)
    """Whole-line strips made from this row; owned by whoever draws."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A place where the cursor can stand, with what copying there gives."""

    row: int
    """Index in the layout's rows."""
    kind: str
    """`code`, `fold` or `block`."""
    text: str
    """Logical text to copy."""


@dataclass(slots=True)
class Layout:
    """Rows of one piece of content at one width."""

    rows: list[Row]
    stops: tuple[Stop, ...] = ()
