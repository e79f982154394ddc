"""A unified diff as two columns: what was at the left, what is at the right.

Pure layout of lines that `diff.unified` made. Invariant: like a table, the rows differ with the
width, but together they count as much logical text as the unified lines do, so a place in the
diff is found again after a resize.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len
from rich.style import Style

from groupx_tui.render.palette import Palette, Role
from groupx_tui.render.row import Piece
from groupx_tui.render.wrap import Line, wrap_pieces
from groupx_tui.render.writer import Writer

MIN_CELLS: Final = 110
"""Two columns of 54 cells: less would break nearly each line of code."""
_BAR: Final = "│"

Pair = tuple[str, str]
"""Lines of a unified diff that stand beside each other; empty: nothing is there."""


def pairs_of(lines: Sequence[str]) -> Iterator[Pair]:
    """Pair removed lines with the added ones that take their place."""
    removed: list[str] = []
    added: list[str] = []
    for line in lines:
        if line.startswith("-"):
            if added:
                yield from zip_longest(removed, added, fillvalue="")
                removed, added = [], []
            removed.append(line)
        elif line.startswith("+"):
            added.append(line)
        else:
            yield from zip_longest(removed, added, fillvalue="")
            removed, added = [], []
            yield line, line
    yield from zip_longest(removed, added, fillvalue="")


def write_side_by_side(writer: Writer, lines: Sequence[str]) -> None:
    """Write the lines as two columns over the writer's whole width."""
    palette = writer.palette
    left_cells = (writer.available - len(_BAR)) // 2
    right_cells = writer.available - len(_BAR) - left_cells
    bar = palette.style(Role.TABLE_LINE)
    for left, right in pairs_of(lines):
        if left.startswith("@"):
            writer.write([(left, palette.style(Role.DIFF_HUNK))], chop=True)
            continue
        both = left == right
        length = len(left) + 1 if both else _length(left) + _length(right)
        columns = (
            _column(left, left_cells, palette, is_changed=not both),
            _column(right, right_cells, palette, is_changed=not both),
        )
        for before, after in zip_longest(*columns, fillvalue=None):
            pieces = [
                *_padded(before, left_cells, palette, left if not both else ""),
                (_BAR, bar),
                *_padded(after, right_cells, palette, right if not both else ""),
            ]
            writer.line(pieces, "".join(text for text, _ in pieces).rstrip(), length=length)
            length = 0


def _length(line: str) -> int:
    return len(line) + 1 if line else 0


def _style(line: str, palette: Palette) -> Style:
    roles = {"-": Role.DIFF_REMOVED, "+": Role.DIFF_ADDED}
    role = roles.get(line[:1])
    return palette.base if role is None else palette.style(role)


def _column(line: str, cells: int, palette: Palette, *, is_changed: bool) -> list[Line]:
    if not line:
        return []
    style = _style(line, palette) if is_changed else palette.base
    return wrap_pieces([(line, style)], cells, chop=True)


def _padded(found: Line | None, cells: int, palette: Palette, line: str) -> list[Piece]:
    pieces = [] if found is None else list(found.pieces)
    spare = cells - sum(cell_len(text) for text, _ in pieces)
    fill = palette.base if found is None else _style(line, palette)
    return [*pieces, (" " * spare, fill)] if spare else pieces
