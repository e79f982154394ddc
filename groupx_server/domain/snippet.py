"""The part of a text that shows why it was found, with the words to mark: offsets, never markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groupx_server.domain.searchquery import Query
from groupx_server.domain.searchtext import spans
from groupx_shared.text import safe_line

WIDTH: Final = 200
"""Code points of a snippet, without what says that it is cut."""
BEFORE: Final = 40
"""Shown before the first mark."""
LOOKED_AT: Final = 200_000
"""Of a text; what is found behind it is found, and shown by its beginning."""
STEM: Final = 4
"""Words alike in so many first characters and in all but the last three are marked alike: the
index stems words, this only shows them."""
ENDING: Final = 3
CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A line of text and what to mark in it: (start, end) in code points, ascending."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(content: str, query: Query) -> Snippet:
    """Cut out the part around the first word that the query asks for."""
    found = _found(content[:LOOKED_AT], query)
    first = found[0][0] if found else 0
    start = 0 if first <= BEFORE else first - BEFORE
    end = min(len(content), start + WIDTH)
    text = CUT if start else ""
    marks: list[tuple[int, int]] = []
    at = start
    for mark_start, mark_end in found:
        if mark_end > end:
            break
        text += _clean(content[at:mark_start])
        marked = _clean(content[mark_start:mark_end])
        marks.append((len(text), len(text) + len(marked)))
        text += marked
        at = mark_end
    text += _clean(content[at:end]) + (CUT if end < len(content) else "")
    return Snippet(text, tuple(marks))


def _clean(part: str) -> str:
    """On one line, without control sequences; spaces at both ends stay."""
    cleaned = safe_line(part, 2 * WIDTH)
    left = " " if part[:1].isspace() and cleaned[:1] != " " else ""
    right = " " if part[-1:].isspace() and cleaned[-1:] != " " and cleaned else ""
    return f"{left}{cleaned}{right}"


def _found(content: str, query: Query) -> list[tuple[int, int]]:
    words = set(query.should) | {word for phrase in query.must for word in phrase}
    runs = {word for word in words if not word.isascii()} | set(query.singles)
    found: list[tuple[int, int]] = []
    for start, end, word, is_run in spans(content):
        if is_run:
            found += _in_run(content, start, end, runs)
        elif _is_wanted(word, words, query.prefixes):
            found.append((start, end))
    return found


def _in_run(content: str, start: int, end: int, wanted: set[str]) -> list[tuple[int, int]]:
    """The wanted pairs of a run, joined where they touch; single characters only without pairs."""
    pairs = [at for at in range(start, end - 1) if content[at : at + 2] in wanted]
    if not pairs:
        has_pairs = any(len(word) > 1 for word in wanted)
        singles = [] if has_pairs else [at for at in range(start, end) if content[at] in wanted]
        return [(at, at + 1) for at in singles]
    joined: list[tuple[int, int]] = []
    for at in pairs:
        if joined and at <= joined[-1][1]:
            joined[-1] = (joined[-1][0], at + 2)
        else:
            joined.append((at, at + 2))
    return joined


def _is_wanted(word: str, words: set[str], prefixes: list[str]) -> bool:
    if word in words or any(word.startswith(prefix) for prefix in prefixes):
        return True
    return any(_is_alike(word, other) for other in words if other[:STEM] == word[:STEM])


def _is_alike(word: str, other: str) -> bool:
    length = max(STEM, max(len(word), len(other)) - ENDING)
    return word[:length] == other[:length]
