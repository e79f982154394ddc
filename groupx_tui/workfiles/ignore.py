"""What `.gitignore` files leave out. Pure.

Invariants: as in git, the last pattern that matches decides, a file nearer to the path comes
before one farther up, and nothing below an ignored folder is looked at (so it cannot be brought
back); no pattern, however written, costs more than the product of its length and the path's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MAX_PATTERNS: Final = 2_000
"""Of one file; more were not written by people."""
MAX_PATTERN_CHARS: Final = 500

Matches = Callable[[str], bool]
"""Whether one name of a path fits."""


def _anything(name: str) -> bool:
    """One name (or letter), whichever."""
    return True


def any_number(name: str) -> bool:
    """Stands for any number of names (or letters); told apart by what it is, never called."""
    return True


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a file: what each name of the path must be like."""

    names: tuple[Matches, ...]
    is_negated: bool
    is_for_folders: bool


class IgnoreFile:
    """The patterns of one file; `folder` is where it lies, as a path from the top of the walk, ""
    for the top itself."""

    def __init__(self, text: str, folder: str = "", skipped: str = "") -> None:
        """`skipped`: what lies between the file's folder and the top of the walk, for a file that
        is above the top (`src/`)."""
        self._prefix = f"{folder}/" if folder else ""
        self._skipped = skipped
        self.patterns = tuple(_patterns(text.splitlines()[:MAX_PATTERNS]))

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the file leaves `path` out: True, False (brought back), None (says nothing)."""
        if not path.startswith(self._prefix):
            return None
        names = (self._skipped + path[len(self._prefix) :]).split("/")
        for pattern in reversed(self.patterns):
            if pattern.is_for_folders and not is_folder:
                continue
            if _fits(pattern.names, names):
                return not pattern.is_negated
        return None


def is_ignored(files: Iterable[IgnoreFile], path: str, *, is_folder: bool) -> bool:
    """Whether `path` is left out by `files`, those nearest to it first."""
    for file in files:
        if (verdict := file.verdict(path, is_folder=is_folder)) is not None:
            return verdict
    return False


def _fits(pattern: Sequence[Matches], items: Sequence[str]) -> bool:
    """Whether the items fit the pattern, in which `any_number` may stand for several or none."""
    at = item = 0
    last_star, tried = -1, 0
    while item < len(items):
        if at < len(pattern) and pattern[at] is any_number:
            last_star, tried = at, item
            at += 1
        elif at < len(pattern) and pattern[at](items[item]):
            at += 1
            item += 1
        elif last_star >= 0:
            tried += 1
            at, item = last_star + 1, tried
        else:
            return False
    return all(rest is any_number for rest in pattern[at:])


def _patterns(lines: Iterable[str]) -> Iterable[Pattern]:
    for line in lines:
        text = _without_trailing_blanks(line)
        if not text or text.startswith("#") or len(text) > MAX_PATTERN_CHARS:
            continue
        is_negated = text.startswith("!")
        text = text[1:] if is_negated else text
        is_for_folders = text.endswith("/")
        names = _names(text.removesuffix("/"))
        if names:
            yield Pattern(names, is_negated, is_for_folders)


def _without_trailing_blanks(line: str) -> str:
    text = line.rstrip(" \t")
    return f"{text} " if text.endswith("\\") and len(text) < len(line) else text


def _names(text: str) -> tuple[Matches, ...]:
    """What each name must be like; empty for a line that says nothing."""
    parts = text.removeprefix("/").split("/")
    if not any(parts):
        return ()
    names = [any_number if part == "**" else _name(part) for part in parts]
    if names[-1] is any_number:
        names.append(_anything)  # all that is inside, not the folder itself
    return tuple(names) if "/" in text else (any_number, *names)


def _name(part: str) -> Matches:
    """What one name must be like, by the cheapest means that does it."""
    if not re.search(r"[*?\[\\]", part):
        return part.__eq__
    if not re.search(r"[?\[\\]", part) and part.count("*") == 1:
        head, _, tail = part.partition("*")
        least = len(head) + len(tail)
        return lambda name: len(name) >= least and name.startswith(head) and name.endswith(tail)
    letters = _letters(part)
    return lambda name: _fits(letters, name)


def _letters(part: str) -> list[Matches]:
    """What each letter of a name must be like."""
    letters: list[Matches] = []
    index = 0
    while index < len(part):
        letter = part[index]
        index += 1
        if letter == "*":
            letters.append(any_number)
        elif letter == "?":
            letters.append(_anything)
        elif letter == "[" and (end := _class_end(part, index)) > 0:
            letters.append(_class(part[index:end]))
            index = end + 1
        elif letter == "\\" and index < len(part):
            letters.append(part[index].__eq__)
            index += 1
        else:
            letters.append(letter.__eq__)
    return letters


def _class_end(part: str, start: int) -> int:
    """Where the `]` of a class that begins at `start` is; -1 when it has none."""
    first = start + 1 if part[start : start + 1] in ("!", "^") else start
    return part.find("]", first + 1)


def _class(inside: str) -> Matches:
    """One letter out of several: `a-z_`, `!0-9`."""
    is_not = inside[:1] in ("!", "^")
    body = inside[1:] if is_not else inside
    singles, ranges = _members(body)

    def fits(letter: str) -> bool:
        is_in = letter in singles or any(low <= letter <= high for low, high in ranges)
        return is_in != is_not

    return fits


def _members(body: str) -> tuple[set[str], list[tuple[str, str]]]:
    singles: set[str] = set()
    ranges: list[tuple[str, str]] = []
    index = 0
    while index < len(body):
        if body[index] == "\\" and index + 1 < len(body):
            index += 1
        if body[index + 1 : index + 2] == "-" and index + 2 < len(body):
            ranges.append((body[index], body[index + 2]))
            index += 3
        else:
            singles.add(body[index])
            index += 1
    return singles, ranges
