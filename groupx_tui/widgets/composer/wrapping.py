"""Lets Textual's text areas wrap as the timeline does: by what is drawn.

Textual measures a long word code point by code point. Chinese without spaces is one word to it, and
an emoji of several code points in it then hides what stands at the edge, or is torn in two.
Invariant: sections follow each other without a gap, none is wider than the width (but for one blank
at its end, which has the caret's cell), and none begins inside a cluster. Counterpart:
`render.wrap`, which knows where a line may break.
"""

from __future__ import annotations

from typing import Any, Final

from rich.cells import cell_len
from textual._wrap import compute_wrap_offsets
from textual.document import _wrapped_document
from textual.expand_tabs import get_tab_widths

from groupx_tui.render.clusters import clusters
from groupx_tui.render.wrap import wrap_spans

TEXTUAL: Final[Any] = _wrapped_document
"""The module whose two measures are replaced; a test sees that it still asks for them."""


def teach_wrapping() -> None:
    """From now on text areas measure as this module does."""
    TEXTUAL.compute_wrap_offsets = wrap_offsets
    TEXTUAL.cell_width_to_column_index = column_at


def wrap_offsets(
    text: str,
    width: int,
    tab_size: int,
    fold: bool = True,
    precomputed_tab_sections: list[tuple[str, int]] | None = None,
) -> list[int]:
    """Return where the lines of `text` after the first one begin. Lines with tabs are measured by
    Textual, which knows their stops."""
    if "\t" in text:
        return compute_wrap_offsets(text, width, tab_size, fold, precomputed_tab_sections)
    offsets = [0]
    for start, end, following in wrap_spans(text, width):
        if start > offsets[-1]:
            offsets.append(start)
        room = max(1, width - cell_len(text[start:end]))
        offsets.extend(range(end + room, following, max(1, width)))
    return offsets[1:]


def column_at(line: str, cell: int, tab_width: int) -> int:
    """Return the column of the cluster that is drawn in a cell of `line`."""
    column = cells = 0
    for part, tab_cells in get_tab_widths(line, tab_width):
        for start, _, width in clusters(part):
            cells += width
            if cells > cell:
                return column + start
        cells += tab_cells
        column += len(part)
        if cells > cell:
            return column
        column += 1
    return len(line)
