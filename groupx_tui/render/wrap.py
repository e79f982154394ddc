"""Wrapping of text into lines by display cells.

Invariants: no line is wider than the width (for widths of 2 and more), no character or emoji
sequence is split, and `text[start:end] + text[end:next]` over all spans is the text. Lines break
at spaces (dropped from the line, kept as its joiner), around wide characters except where East
Asian rules forbid it, and anywhere in a word that is longer than a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style

from groupx_tui.render.clusters import clusters
from groupx_tui.render.row import Piece

_NO_START: Final = frozenset(
    "、。，．・：；？！゛゜ヽヾゝゞ々ー’”）〕］｝〉》」』】°′″℃¢％‰ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
    ",.!?:;)]}…—~～·"
)
"""Characters that may not begin a line."""

_NO_END: Final = frozenset("‘“（〔［｛〈《「『【([{$¥￥£＄")
"""Characters that may not end a line."""

_JOINER: Final = "\u200d"
_EMOJI_STYLE: Final = "\ufe0f"
_IN_SEQUENCE: Final = frozenset((_JOINER, _EMOJI_STYLE, "\u20e3"))
"""What goes on with the emoji before it."""

TAB: Final = "    "


class Span(NamedTuple):
    """One line: `text[start:end]`; what wrapping dropped is `text[end:next]`."""

    start: int
    end: int
    next: int


def wrap_spans(text: str, width: int) -> list[Span]:
    """Return the lines of `text` (without line breaks, tabs or controls), at least one."""
    width = max(2, width)
    size = len(text)
    if size <= width and (text.isascii() or cell_len(text) <= width):
        return [Span(0, size, size)]
    return _wrap_ascii(text, width) if text.isascii() else _wrap_wide(text, width)


def chop_spans(text: str, width: int) -> list[Span]:
    """Return the lines of `text` cut only where the width ends: for code and terminal output."""
    width = max(2, width)
    size = len(text)
    if text.isascii():
        cuts = [*range(0, size, width), size] if size else [0, 0]
    else:
        cuts = _chop_wide(text, width)
    return [Span(a, b, b) for a, b in pairwise(cuts)]


def _chop_wide(text: str, width: int) -> list[int]:
    cuts, used = [0], 0
    for start, _end, cells in clusters(text):
        if used + cells > width and used:
            cuts.append(start)
            used = 0
        used += cells
    cuts.append(len(text))
    return cuts


def _wrap_ascii(text: str, width: int) -> list[Span]:
    spans, start, size = [], 0, len(text)
    while size - start > width:
        edge = start + width
        cut = edge if text[edge] == " " else text.rfind(" ", start, edge)
        end = start + len(text[start:cut].rstrip(" ")) if cut > start else start
        if end == start and text[start] != " ":  # one word, longer than the line
            spans.append(Span(start, edge, edge))
            start = edge
            continue
        if end == start:  # blanks longer than the line: one line of them is enough
            end = cut = edge
        following = cut
        while following < size and text[following] == " ":
            following += 1
        spans.append(Span(start, end, following))
        start = following
    if start < size or not spans:
        spans.append(Span(start, size, size))
    return spans


def _wrap_wide(text: str, width: int) -> list[Span]:
    spans: list[Span] = []
    line = used = 0  # start of the line; cells since then
    break_end = break_next = break_used = 0  # last place to break in this line
    previous, previous_cells = "", 0
    for start, end, cells in clusters(text):
        mark = text[start]
        if mark == " " and end == start + 1:
            if previous != " ":
                break_end = start
            break_next, break_used = start + 1, used + 1
        else:
            if previous != " " and _may_break(previous, mark, max(previous_cells, cells)):
                break_end = break_next = start
                break_used = used
            if used + cells > width:
                if break_end <= line:  # no place to break: cut right here, or inside the blanks
                    break_end = line + width if used > width else start
                    break_next, break_used = start, used
                if break_end > line:
                    spans.append(Span(line, break_end, break_next))
                    line, used = break_next, used - break_used
                    if used + cells > width:
                        spans.append(Span(line, start, start))
                        line, used = start, 0
        used += cells
        previous, previous_cells = text[start:end], cells
    return [*spans, *_last_span(text, line, used, width)]


def _last_span(text: str, line: int, used: int, width: int) -> Iterator[Span]:
    """Yield what is left from `line` on: one span, its trailing blanks dropped when too wide."""
    size = len(text)
    if used > width:
        end = max(line, line + len(text[line:].rstrip(" ")))
        if end == line:  # blanks only
            end = line + width
        yield Span(line, end, size)
    else:
        yield Span(line, size, size)


def _may_break(left: str, right: str, cells: int) -> bool:
    """Whether a line may break between two characters, the wider of them `cells` wide."""
    return bool(left) and cells > 1 and right not in _NO_START and left not in _NO_END


class Line(NamedTuple):
    """One line of wrapped pieces."""

    pieces: list[Piece]
    text: str
    joiner: str


def wrap_pieces(pieces: Iterable[Piece], width: int, *, chop: bool = False) -> list[Line]:
    """Wrap styled text, which may hold line breaks and tabs, into at least one line.

    The joiner of a line that ended at a line break is a line break; the last line's too.
    """
    parts = [(_flat(text), style) for text, style in pieces if text]
    whole = "".join(text for text, _ in parts)
    if _JOINER in whole or _EMOJI_STYLE in whole:
        parts = _whole_sequences(parts)
    cutter = _Cutter(parts)
    lines: list[Line] = []
    offset = 0
    for paragraph in whole.split("\n"):
        spans = (chop_spans if chop else wrap_spans)(paragraph, width)
        lines.extend(
            Line(
                cutter.cut(offset + start, offset + end), paragraph[start:end], paragraph[end:after]
            )
            for start, end, after in spans
        )
        lines[-1] = lines[-1]._replace(joiner=lines[-1].joiner + "\n")
        offset += len(paragraph) + 1
    return lines


def _flat(text: str) -> str:
    return text.replace("\t", TAB) if "\t" in text else text


def _whole_sequences(parts: list[Piece]) -> list[Piece]:
    """Move the rest of an emoji sequence to the piece that it began in: measured apart, the two
    halves would be wider than what is drawn."""
    whole: list[Piece] = []
    for text, style in parts:
        rest = text
        while whole and rest and (rest[0] in _IN_SEQUENCE or whole[-1][0][-1] == _JOINER):
            before, its_style = whole[-1]
            whole[-1] = (before + rest[0], its_style)
            rest = rest[1:]
        if rest:
            whole.append((rest, style))
    return whole


class _Cutter:
    """Cuts slices, in rising order, out of styled text at the cost of the slice."""

    def __init__(self, parts: Sequence[tuple[str, Style]]) -> None:
        self._parts = parts
        self._index = 0
        self._offset = 0  # of the part at `_index`

    def cut(self, start: int, end: int) -> list[Piece]:
        parts, pieces = self._parts, []
        while self._index < len(parts) and self._offset + len(parts[self._index][0]) <= start:
            self._offset += len(parts[self._index][0])
            self._index += 1
        index, offset = self._index, self._offset
        while index < len(parts) and offset < end:
            text, style = parts[index]
            piece = text[max(0, start - offset) : end - offset]
            if piece:
                pieces.append((piece, style))
            offset += len(text)
            index += 1
        return pieces
