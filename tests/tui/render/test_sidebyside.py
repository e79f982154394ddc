"""Diffs beside each other: what takes the place of what, nothing lost, nothing wider."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from groupx_tui.render.diff import unified, write_diff
from groupx_tui.render.palette import PLAIN
from groupx_tui.render.row import Layout
from groupx_tui.render.sidebyside import MIN_CELLS, pairs_of
from groupx_tui.render.writer import Writer


def layout_of(old: str, new: str, width: int) -> Layout:
    writer = Writer(width, PLAIN)
    write_diff(writer, "a.py", old, new)
    return writer.layout()


def test_old_and_new_stand_beside_each_other_where_there_is_room() -> None:
    old, new = "one\ntwo\nthree\n", "one\n2\n2b\nthree\n"
    rows = [row.text for row in layout_of(old, new, MIN_CELLS).rows]
    assert rows[1] == "@@ -1,3 +1,4 @@"
    assert [tuple(part.strip() for part in row.split("│")) for row in rows[2:]] == [
        ("one", "one"),
        ("-two", "+2"),
        ("", "+2b"),
        ("three", "three"),
    ]


def test_where_there_is_none_it_is_unified() -> None:
    rows = [row.text for row in layout_of("a\n", "b\n", MIN_CELLS - 1).rows]
    assert rows[2:] == ["-a", "+b"]


@pytest.mark.parametrize(("old", "new"), [("", "a\nb\n"), ("a\nb\n", "")])
def test_a_file_that_is_new_or_gone_needs_no_second_column(old: str, new: str) -> None:
    assert not any("│" in row.text for row in layout_of(old, new, 160).rows)


def test_a_copy_is_the_unified_diff_at_any_width() -> None:
    old, new = "one\ntwo\n", "one\n2\n"
    copies = {layout_of(old, new, width).stops[0].text for width in (40, 160)}
    assert copies == {"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2"}


LINES = st.lists(st.sampled_from(["a", "b", "你好" * 40, "x" * 90, "\tif y:", ""]), max_size=12)


@given(LINES, LINES, st.integers(MIN_CELLS, 200))
def test_no_row_is_wider_and_places_only_grow(old: list[str], new: list[str], width: int) -> None:
    rows = layout_of("\n".join(old), "\n".join(new), width).rows
    assert all(cell_len(row.strip.text) <= width for row in rows)
    assert [row.at for row in rows] == sorted(row.at for row in rows)


@given(LINES, LINES)
def test_every_line_of_the_diff_is_in_one_pair(old: list[str], new: list[str]) -> None:
    lines = [line for line in unified("\n".join(old), "\n".join(new)) if line[:1] in "+-"]
    pairs = list(pairs_of(lines))
    assert [left for left, _ in pairs if left] == [line for line in lines if line[:1] == "-"]
    assert [right for _, right in pairs if right] == [line for line in lines if line[:1] == "+"]
