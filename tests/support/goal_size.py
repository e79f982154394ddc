"""How much a goal is tried on: a little in every run, all of it with `GROUPX_GOALS=full`
(`make goals`), which takes up to an hour."""

from __future__ import annotations

import os
import random
from typing import Final

FULL: Final = os.environ.get("GROUPX_GOALS") == "full"
FULL_S: Final = 3_600
"""Bound of one test at its full size."""
WORD_CHARS: Final = 12


def sized(light: int, full: int) -> int:
    """The size of this run."""
    return full if FULL else light


def bound_s(light_s: int) -> int:
    """The time that one test may take in this run."""
    return FULL_S if FULL else light_s


def rare_words(seed: int, count: int) -> list[str]:
    """Words that stand nowhere else, each once."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        # A digit at the end keeps the stemmer away; letters before it, so that it is one word.
        words["".join(draw.choices("bcdfghjklmnpqrtvwxz", k=WORD_CHARS)) + "7"] = None
    return list(words)
