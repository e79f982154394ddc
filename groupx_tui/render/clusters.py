"""What a reader takes for one character, and how many cells it has. Pure.

Invariant: the cells of all clusters of a text are the cells of the text, and a flag, whose two
letters have a cell each, is one cluster. Counterparts: `steadycells`, which keeps the cells behind
a cluster in their place, and the composer's editor, whose caret is never inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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


def clusters(text: str) -> Iterator[Cluster]:
    """What is drawn as one, from left to right, without a gap."""
    spans, _ = split_graphemes(text)
    index = 0
    while index < len(spans):
        start, end, cells = spans[index]
        index += 1
        if index < len(spans) and all(
            _FLAG_LETTER.match(text, at) for at in (start, spans[index][0])
        ):
            _, end, more = spans[index]
            cells += more
            index += 1
        yield Cluster(start, end, cells)


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
