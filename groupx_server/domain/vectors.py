"""Vectors of texts as they are stored, and how near two of them are.

A vector is kept as one byte for each dimension behind the factor that makes its length 1: nearness
is a matter of angles, and what a byte loses is far below what tells texts apart (measured). A
message is compared together with a part of its neighbours, since a short answer says little alone.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Mapping, Sequence
from operator import mul
from typing import Final, NamedTuple

NEIGHBOUR: Final = 0.35
"""Part of the message before and of the one after that counts beside a message's own."""

_FACTOR: Final = struct.Struct("<f")
_STEPS: Final = 127

MAX_DIMENSIONS: Final = 8_192


class Vector(NamedTuple):
    """Whole numbers; times `factor` they are of length 1."""

    factor: float
    steps: array[int]


def pack(values: Sequence[float]) -> bytes:
    """A vector as it is stored: 4 bytes and one for each dimension.

    Raises: ValueError when it has no direction, or no sound numbers.
    """
    largest = max(map(abs, values), default=0.0)
    if not 0 < len(values) <= MAX_DIMENSIONS or not 0.0 < largest < math.inf:
        raise ValueError("it is no vector with a direction")
    if any(math.isnan(value) for value in values):
        raise ValueError("it has values that are no numbers")
    scale = _STEPS / largest
    steps = array("b", [round(value * scale) for value in values])
    return _FACTOR.pack(1 / math.sqrt(_dot(steps, steps))) + steps.tobytes()


def unpack(stored: bytes) -> Vector:
    """The counterpart of `pack`."""
    steps = array("b")
    steps.frombytes(stored[_FACTOR.size :])
    return Vector(_FACTOR.unpack_from(stored)[0], steps)


def dimensions(stored: bytes) -> int:
    """How many numbers a stored vector has."""
    return len(stored) - _FACTOR.size


def nearness(one: Vector, other: Vector) -> float:
    """The cosine of their angle."""
    return one.factor * other.factor * _dot(one.steps, other.steps)


def nearness_among(query: Vector, own: Vector, near: Sequence[Vector]) -> float:
    """The cosine of a query and a text to which a part of its neighbours is added."""
    towards = nearness(query, own) + NEIGHBOUR * sum(nearness(query, each) for each in near)
    square = 1.0
    for at, each in enumerate(near):
        square += NEIGHBOUR**2 + 2 * NEIGHBOUR * nearness(own, each)
        square += sum(2 * NEIGHBOUR**2 * nearness(each, other) for other in near[at + 1 :])
    return towards / math.sqrt(max(square, 1e-6))


def fuse(by_words: Sequence[float], by_meaning: Mapping[int, float], weight: float) -> list[float]:
    """Both scores from 0 to 1 each, added. What has none by meaning gets the middle one of those
    that have; positions are those in `by_words`, of which more is better."""
    middle = sorted(by_meaning.values())[len(by_meaning) // 2]
    meanings = [by_meaning.get(at, middle) for at in range(len(by_words))]
    return [
        word + weight * meaning
        for word, meaning in zip(_spread(by_words), _spread(meanings), strict=True)
    ]


def _spread(scores: Sequence[float]) -> list[float]:
    lowest, highest = min(scores), max(scores)
    width = highest - lowest
    return [(score - lowest) / width if width > 0 else 0.0 for score in scores]


def _dot(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(map(mul, one, other))
