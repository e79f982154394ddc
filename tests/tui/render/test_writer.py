"""The writer: prefixes, logical text, and rows that never grow too wide."""

from __future__ import annotations

from rich.style import Style

from groupx_tui.render.palette import PLAIN
from groupx_tui.render.writer import Writer

_S = Style()


def test_a_marker_stands_once_and_belongs_to_the_text() -> None:
    writer = Writer(12, PLAIN)
    with writer.prefix(("  ", _S), ("• ", _S), is_logical=True):
        writer.write([("one two three", _S)])
    rows = writer.layout().rows
    assert [row.strip.text for row in rows] == ["• one two", "  three"]
    assert [(row.text, row.start, row.joiner) for row in rows] == [
        ("• one two", 0, " "),
        ("three", 2, "\n"),
    ]


def test_a_bar_is_not_part_of_the_text() -> None:
    writer = Writer(20, PLAIN)
    with writer.prefix(("▎ ", _S)):
        writer.write([("quoted", _S)])
    (row,) = writer.layout().rows
    assert (row.strip.text, row.text, row.start) == ("▎ quoted", "quoted", 2)


def test_prefixes_that_leave_no_room_are_left_out_but_markers_are_not() -> None:
    writer = Writer(16, PLAIN)
    with writer.prefix(("      ", _S)), writer.prefix(("        ", _S), ("* ", _S)):
        writer.write([("text", _S)])
    (row,) = writer.layout().rows
    assert row.strip.text == "      * text"


def test_stops_name_the_row_that_follows() -> None:
    writer = Writer(20, PLAIN)
    writer.write([("one", _S)])
    writer.stop("code", "x")
    writer.write([("two", _S)])
    assert [(stop.row, stop.text) for stop in writer.layout().stops] == [(1, "x")]
