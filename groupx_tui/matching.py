"""How typed letters find a name: one rule for completion, palette and all lists. Pure.

An exact name first, then what starts with the letters, then words that do, then what contains
them, then what has them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def rank(typed: str, name: str) -> int | None:
    """How well `typed` finds `name`: 0 is best, None is not at all."""
    typed, name = typed.casefold(), name.casefold()
    if name == typed:
        return 0
    if name.startswith(typed):
        return 1
    if any(word.startswith(typed) for word in name.split()):
        return 2
    if typed in name:
        return 3
    rest = iter(name)
    return 4 if all(letter in rest for letter in typed) else None


def best_matches(
    typed: str, items: Iterable[Item], names: Callable[[Item], Iterable[str]]
) -> list[Item]:
    """The items that `typed` finds by any of their names, best first, else in their own order.

    Letters in order match only the first name: in a longer text they match nearly anything."""
    ranked: list[tuple[int, int, Item]] = []
    for number, item in enumerate(items):
        ranks = [
            found
            for place, name in enumerate(names(item))
            if (found := rank(typed, name)) is not None and (place == 0 or found < 4)
        ]
        if ranks:
            ranked.append((min(ranks), number, item))
    ranked.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in ranked]
