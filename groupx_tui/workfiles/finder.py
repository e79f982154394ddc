"""Finds files by a few letters of their path. Pure, but that it remembers its last search.

A name that begins with the letters stands before one with a word that does, that before one that
holds them, that before a path that does, and last what has them in order; shorter paths first.
A word that goes on from the last one is looked for among what that found.
"""

from __future__ import annotations

import heapq
import re
from typing import Final

MAX_FOUND: Final = 40
_WORDS: Final = re.compile(r"[\W_]+")


class FileFinder:
    """Searches one list of paths."""

    def __init__(self, paths: tuple[str, ...] = ()) -> None:
        self.paths = paths
        self._all = [(path.casefold(), path) for path in paths]
        self._last = ""
        self._left = self._all
        self._known = frozenset(paths)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def find(self, typed: str, limit: int = MAX_FOUND) -> list[str]:
        """Return the paths that `typed` finds, best first; none for nothing typed."""
        letters = typed.casefold().removeprefix("./")
        if not letters:
            return []
        pool = self._left if self._last and letters.startswith(self._last) else self._all
        self._left = [entry for entry in pool if _has_in_order(entry[0], letters)]
        self._last = letters
        ranked = [(_rank(letters, folded), len(path), path) for folded, path in self._left]
        return [path for _, _, path in heapq.nsmallest(limit, ranked)]


def _has_in_order(path: str, letters: str) -> bool:
    place = 0
    for letter in letters:
        place = path.find(letter, place) + 1
        if not place:
            return False
    return True


def _rank(letters: str, path: str) -> int:
    name = path.rpartition("/")[2]
    if name == letters or path == letters:
        return 0
    if name.startswith(letters):
        return 1
    if letters in name:
        return 2 if any(word.startswith(letters) for word in _WORDS.split(name)) else 3
    if path.startswith(letters):
        return 4
    return 5 if letters in path else 6
