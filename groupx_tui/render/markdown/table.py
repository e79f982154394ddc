"""Tables: columns as wide as their widest cell, shrunk and wrapped to fit, aligned by cells.

Invariants: no row is dropped, whatever the width; each line is exactly as wide as the others; a
table with more columns than fit is written as records, a line for each field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len
from rich.style import Style

from groupx_tui.render.palette import Role
from groupx_tui.render.row import Piece
from groupx_tui.render.wrap import Line, wrap_pieces
from groupx_tui.render.writer import Writer

MIN_COLUMN: Final = 4
"""Narrowest column: two wide characters or a short word."""

ROW_PLACES: Final = 1_000
"""Logical places that each row takes, whatever its height: so a row is found again at any width."""

_SEPARATOR: Final = " │ "

Cell = list[Piece]


@dataclass(slots=True)
class Table:
    """A parsed table; `aligns` holds `left`, `right` or `center` for each column."""

    aligns: list[str] = field(default_factory=list)
    head: list[Cell] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


def write_table(writer: Writer, table: Table, *, has_head: bool = True) -> None:
    """Write the table; without `has_head` only its rows (it continues another one)."""
    rows = [table.head, *table.rows]
    natural = [
        max((_cell_width(row[column]) for row in rows if column < len(row)), default=1)
        for column in range(len(table.aligns))
    ]
    widths = _fit(natural, writer.available)
    if widths is None:
        _write_records(writer, table)
        return
    line_style = writer.palette.style(Role.TABLE_LINE)
    if has_head:
        _write_row(writer, table, table.head, widths, line_style)
        rule = "─┼─".join("─" * width for width in widths)
        writer.line([(rule, line_style)], rule, length=1)
    for row in table.rows:
        _write_row(writer, table, row, widths, line_style)


def _cell_width(cell: Cell) -> int:
    return max(1, sum(cell_len(text) for text, _ in cell))


def _fit(natural: Sequence[int], available: int) -> list[int] | None:
    """Return column widths that fit together, or None when not even narrow ones do.

    The widest columns give way first, down to a common width (as if water were let out).
    """
    room = available - len(_SEPARATOR) * (len(natural) - 1)
    if sum(natural) <= room:
        return list(natural)
    floor = [min(width, MIN_COLUMN) for width in natural]
    if sum(floor) > room:
        return None
    low, high = MIN_COLUMN, max(natural)
    while low < high:
        level = (low + high + 1) // 2
        if sum(min(width, level) for width in natural) <= room:
            low = level
        else:
            high = level - 1
    widths = [min(width, low) for width in natural]
    spare = room - sum(widths)
    for column, width in enumerate(natural):
        if spare and widths[column] < width:
            widths[column] += 1
            spare -= 1
    return widths


def _write_row(
    writer: Writer, table: Table, row: list[Cell], widths: Sequence[int], line_style: Style
) -> None:
    """Write one row, as many lines as its tallest cell; its place in the text is the row's."""
    cells = [
        wrap_pieces(row[column] if column < len(row) else [], width)
        for column, width in enumerate(widths)
    ]
    height = max((len(lines) for lines in cells), default=1)
    for index in range(height):
        pieces: list[Piece] = []
        for column, (lines, width) in enumerate(zip(cells, widths, strict=True)):
            if column:
                pieces.append((_SEPARATOR, line_style))
            line = lines[index] if index < len(lines) else Line([], "", "")
            pieces += _aligned(line, width, table.aligns[column], writer.palette.base)
        text = "".join(text for text, _ in pieces).rstrip()
        writer.line(pieces, text, length=1 if index < height - 1 else ROW_PLACES - index)


def _aligned(line: Line, width: int, align: str, base: Style) -> list[Piece]:
    spare = max(0, width - cell_len(line.text))
    left = {"right": spare, "center": spare // 2}.get(align, 0)
    before: list[Piece] = [(" " * left, base)] if left else []
    after: list[Piece] = [(" " * (spare - left), base)] if spare > left else []
    return [*before, *line.pieces, *after]


def _write_records(writer: Writer, table: Table) -> None:
    """Write each row as lines `name: value`: there are too many columns for the width."""
    palette = writer.palette
    for number, row in enumerate(table.rows or [[]]):
        if number:
            writer.gap()
        for column, name in enumerate(table.head):
            value = row[column] if column < len(row) else []
            mark = palette.over(palette.base, Role.TABLE_LINE)
            writer.write([*name, (": ", mark), *value])
