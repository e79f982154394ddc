"""Diffs: unified, coloured by kind of line, bounded."""

from __future__ import annotations

from groupx_tui.render.diff import MAX_DIFF_LINES, write_diff
from groupx_tui.render.palette import PLAIN, Palette, Role
from groupx_tui.render.row import Layout
from groupx_tui.render.writer import Writer


def _diff(old: str, new: str, palette: Palette = PLAIN) -> Layout:
    writer = Writer(40, palette)
    write_diff(writer, "a.py", old, new)
    return writer.layout()


def test_a_diff_counts_and_shows_what_changed() -> None:
    layout = _diff("one\ntwo\n", "one\n2\n3\n")
    assert [row.text for row in layout.rows] == [
        "a.py  +2 −1",
        "@@ -1,2 +1,3 @@",
        " one",
        "-two",
        "+2",
        "+3",
    ]
    assert layout.stops[0].text.startswith("--- a.py\n+++ a.py\n@@ -1,2 +1,3 @@\n one\n-two")


def test_added_lines_are_filled_to_the_edge_in_their_style() -> None:
    rows = _diff("", "new").rows
    assert rows[-1].fill == PLAIN.style(Role.DIFF_ADDED)


def test_a_new_file_is_all_added() -> None:
    assert [row.text for row in _diff("", "a\nb\n").rows][2:] == ["+a", "+b"]


def test_texts_too_long_to_compare_are_summed_up() -> None:
    (row, *rest) = _diff("x\n" * MAX_DIFF_LINES, "y\n").rows
    assert not rest or row.joiner != "\n"
    assert row.text.startswith("a.py: 3,001 lines")
