"""Builds the rows of a layout: wraps, puts prefixes (bullets, quote bars) before lines, counts.

Owns the prefixes of nested containers and the logical place of each row. Invariant: no row is
wider than the width, however deep the nesting: prefixes beyond it are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from groupx_tui.render.palette import Palette
from groupx_tui.render.row import Layout, Piece, Row, Stop
from groupx_tui.render.wrap import wrap_pieces

MIN_TEXT_CELLS: Final = 8
"""Nesting leaves at least this much of the line for text."""

PROSE_CELLS: Final = 120
"""Longest line of prose: the eye does not find the next one after more."""


@dataclass(slots=True)
class _Prefix:
    """What stands before the lines of a container: `first` once (a list marker), then `rest`."""

    first: Piece | None
    rest: Piece
    cells: int
    is_logical: bool


class Writer:
    """Collects rows for one layout of `width` cells."""

    def __init__(self, width: int, palette: Palette) -> None:
        self.width = max(MIN_TEXT_CELLS, width)
        self.palette = palette
        self._rows: list[Row] = []
        self._stops: list[Stop] = []
        self._prefixes: list[_Prefix] = []
        self._pending: list[Piece] = []
        self._at = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def available(self) -> int:
        """Cells that a line has beside its prefixes."""
        return self.width - sum(prefix.cells for prefix in self._prefixes)

    def layout(self) -> Layout:
        """Return what was written."""
        return Layout(self._rows, tuple(self._stops))

    def following(self) -> Writer:
        """Return a writer for rows that come after these: their places in the text go on."""
        writer = Writer(self.width, self.palette)
        writer._at = self._at
        return writer

    def stop(self, kind: str, text: str) -> None:
        """Make the next row a place where the cursor can stand."""
        self._stops.append(Stop(len(self._rows), kind, text))

    @contextmanager
    def prefix(
        self, rest: Piece, first: Piece | None = None, *, is_logical: bool = False
    ) -> Iterator[None]:
        """Put `rest` before each line written inside, and `first` before the first one.

        A logical prefix (a list marker) belongs to the text that is copied.
        """
        cells = cell_len(rest[0])
        if self.available - cells < MIN_TEXT_CELLS:
            if first is not None:
                self._pending.append(first)
            yield
            return
        self._prefixes.append(_Prefix(first, rest, cells, is_logical))
        try:
            yield
        finally:
            self._prefixes.pop()

    def write(
        self, pieces: Iterable[Piece], *, chop: bool = False, fill: Style | None = None
    ) -> None:
        """Wrap pieces (which may hold line breaks) into rows, at least one. What is chopped (code,
        output) uses the whole width, prose no more than one can read."""
        pending, self._pending = self._pending, []
        width = self.available if chop else min(self.available, PROSE_CELLS)
        for line in wrap_pieces([*pending, *pieces], width, chop=chop):
            self.line(line.pieces, line.text, line.joiner, fill=fill)

    def gap(self) -> None:
        """Write an empty row."""
        self.line((), "")

    def line(
        self,
        pieces: Sequence[Piece],
        text: str,
        joiner: str = "\n",
        *,
        fill: Style | None = None,
        length: int | None = None,
    ) -> None:
        """Write one row as it is; `length` is its share of the logical text when `text` is not."""
        before, logical = self._next_prefix()
        start = 0
        if before:
            cells = sum(cell_len(part) for part, _ in before)
            start = cells - cell_len(logical)
        parts = [*before, *pieces]
        strip = Strip([Segment(part, style) for part, style in parts])
        self._rows.append(Row(strip, logical + text, start, joiner, self._at, fill))
        self._at += len(logical + text) + len(joiner) if length is None else length

    def _next_prefix(self) -> tuple[list[Piece], str]:
        """Return the prefix pieces of the next row, and their logical part (a suffix of them)."""
        if not self._prefixes:
            return [], ""
        pieces, logical, has_marker = [], "", False
        for prefix in self._prefixes:
            piece = prefix.rest if prefix.first is None else prefix.first
            has_marker = has_marker or prefix.first is not None
            prefix.first = None
            pieces.append(piece)
            logical = logical + piece[0] if prefix.is_logical else ""
        return pieces, logical if has_marker else ""
