"""The line rules of CommonMark that tell where a top-level block begins.

Pure functions on single lines. Counterpart: `scanner.py`, which keeps the state between lines.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE: Final = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE: Final = re.compile(r" {0,3}>")
_MARKER: Final = re.compile(r"( {0,3})([-+*]|(\d{1,9})([.)]))([ \t]+(?=\S)|[ \t]*$)")
_BEGINS_SPECIAL: Final = re.compile(r" {0,3}[#>*+\-_`~0-9]")
_TABLE_RULE: Final = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")

MAX_BLANK_AFTER_MARKER: Final = 4
"""Five blanks after a list marker make an indented code block in the item."""


class Fence(NamedTuple):
    """An opening code fence."""

    mark: str
    info: str
    indent: int


class Marker(NamedTuple):
    """A list marker: `kind` is the bullet or the delimiter after the number."""

    kind: str
    number: int | None
    width: int
    """Columns that a line must be indented by to belong to the item."""
    is_empty: bool


def indent_of(line: str) -> int:
    """Return the columns of white space at the start of the line; a tab goes to the next fourth."""
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def dedent(line: str, columns: int) -> str:
    """Return the line without up to `columns` columns of white space at its start."""
    column = index = 0
    while index < len(line) and column < columns and line[index] in " \t":
        column += 1 if line[index] == " " else 4 - column % 4
        index += 1
    return " " * (column - columns) + line[index:]


def fence_of(line: str) -> Fence | None:
    """Return the code fence that the line opens."""
    found = _FENCE.match(line)
    return Fence(found[1], found[2].strip(), indent_of(line)) if found else None


def closes_fence(line: str, mark: str) -> bool:
    """Whether the line ends the fence that `mark` opened."""
    text = line.strip(" \t")
    return (
        len(text) >= len(mark)
        and text == mark[0] * len(text)
        and indent_of(line) <= MAX_BLANK_AFTER_MARKER - 1
    )


def is_heading(line: str) -> bool:
    """Whether the line is an ATX heading."""
    return _HEADING.match(line) is not None


def is_rule(line: str) -> bool:
    """Whether the line is a thematic break."""
    return _RULE.match(line) is not None


def is_underline(line: str) -> bool:
    """Whether the line makes a heading of the paragraph above it."""
    return _UNDERLINE.match(line) is not None


def is_quote(line: str) -> bool:
    """Whether the line begins with a quote mark."""
    return _QUOTE.match(line) is not None


def is_table_rule(line: str) -> bool:
    """Whether the line may be the second line of a table."""
    return "-" in line and _TABLE_RULE.match(line) is not None


def marker_of(line: str) -> Marker | None:
    """Return the list marker that the line begins with (rules, tested before, are none)."""
    found = _MARKER.match(line)
    if found is None:
        return None
    indent, mark, number, delimiter, blank = found.groups()
    is_empty = found.end() == len(line)
    blanks = indent_of(blank)
    if is_empty or blanks > MAX_BLANK_AFTER_MARKER:
        blanks = 1
    return Marker(
        delimiter or mark,
        int(number) if number else None,
        len(indent) + len(mark) + blanks,
        is_empty,
    )


def interrupts(line: str) -> bool:
    """Whether the line ends a paragraph by beginning another block (a setext line does not)."""
    if _BEGINS_SPECIAL.match(line) is None:
        return False
    if is_heading(line) or is_rule(line) or is_quote(line) or fence_of(line) is not None:
        return True
    marker = marker_of(line)
    return marker is not None and not marker.is_empty and marker.number in (None, 1)
