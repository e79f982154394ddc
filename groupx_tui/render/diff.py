"""Changes to a file, coloured: old and new side by side where there is room, else unified.

Invariant: bounded; texts too long to be compared in a frame are summed up in a line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

from groupx_tui.render.palette import Role
from groupx_tui.render.sidebyside import MIN_CELLS, write_side_by_side
from groupx_tui.render.writer import Writer

MAX_DIFF_LINES: Final = 3_000
"""Of old and new text together: comparing more takes longer than a frame."""

_ROLES: Final = {"+": Role.DIFF_ADDED, "-": Role.DIFF_REMOVED, "@": Role.DIFF_HUNK}


def unified(old: str, new: str) -> list[str]:
    """Return the diff's lines without the file names; empty when the texts are the same."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    return list(lines)[2:]


def write_diff(writer: Writer, path: str, old: str, new: str) -> None:
    """Write the path with the number of lines added and removed, then the diff."""
    before, after = old.count("\n") + 1, new.count("\n") + 1
    base = writer.palette.base
    title = writer.palette.style(Role.DIFF_HUNK)
    if before + after > MAX_DIFF_LINES:
        writer.stop("code", new)
        writer.write([(f"{path}: {before:,} lines → {after:,} lines, too long to compare", title)])
        return
    lines = unified(old, new)
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    writer.stop("code", "\n".join([f"--- {path}", f"+++ {path}", *lines]))
    writer.write([(path, title), (f"  +{added} −{removed}", base)])
    if added and removed and writer.available >= MIN_CELLS:
        write_side_by_side(writer, lines)
    else:
        write_diff_lines(writer, lines)


def write_diff_lines(writer: Writer, lines: Iterable[str]) -> None:
    """Write lines of a unified diff, each in the colour of its kind."""
    for line in lines:
        role = _ROLES.get(line[:1])
        style = writer.palette.base if role is None else writer.palette.style(role)
        fill = style if line[:1] in ("+", "-") else None
        writer.write([(line or " ", style)], chop=True, fill=fill)
