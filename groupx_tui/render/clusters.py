"""What a reader takes for one character, and how many cells it has. Pure.

Invariant: the cells of all clusters of a text are the cells of the text, and a flag, whose two
letters have a cell each, is one cluster. Counterparts: `steadycells`, which keeps the cells behind
a cluster in their place, and the composer's editor, whose caret is never inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import get_character_cell_size, split_graphemes

JOINER: Final = "\u200d"
COMPOSED: Final = re.compile("[\u200d\ufe0f\u20e3\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
"""What emoji of several code points are put together with: joiner, variation selector, keycap,
letters of flags, skin tones."""
_FLAG_LETTER: Final = re.compile("[\U0001f1e6-\U0001f1ff]")
NEAR_CHARS: Final = 64
"""A cluster is looked for only so far from a place: none is longer that anybody types."""


class Cluster(NamedTuple):
    """`text[start:end]` takes `cells`."""

    start: int
    end: int
    cells: int


def clusters(text: str) -> Sequence[tuple[int, int, int]]:
    """What is drawn as one, from left to right, without a gap: start, end, cells."""
    spans, _ = split_graphemes(text)
    return spans if _FLAG_LETTER.search(text) is None else list(_with_flags(text, spans))


def _with_flags(text: str, spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Take two letters of a flag together."""
    waiting: tuple[int, int, int] | None = None
    for span in spans:
        is_letter = _FLAG_LETTER.match(text, span[0]) is not None
        if waiting is not None and is_letter:
            yield waiting[0], span[1], waiting[2] + span[2]
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = span if is_letter else None
        if not is_letter:
            yield span
    if waiting is not None:
        yield waiting


def cluster_around(line: str, column: int) -> Cluster | None:
    """The cluster that has `column` strictly inside; None when it is between two."""
    if not _may_be_inside(line, column):
        return None
    first = max(0, column - NEAR_CHARS)
    for start, end, cells in clusters(line[first : column + NEAR_CHARS]):
        if first + start < column < first + end:
            return Cluster(first + start, first + end, cells)
    return None


def _may_be_inside(line: str, column: int) -> bool:
    if not 0 < column < len(line) or line[column].isascii():
        return False
    before, after = line[column - 1], line[column]
    if before == JOINER or COMPOSED.match(after):
        return True
    return get_character_cell_size(after) == 0
