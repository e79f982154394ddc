"""Vectors keep their directions in one byte for each number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.domain.vectors import (
    NEIGHBOUR,
    dimensions,
    fuse,
    nearness,
    nearness_among,
    pack,
    unpack,
)

NUMBER = st.floats(-1, 1, allow_nan=False).map(lambda value: round(value, 4))
VECTOR = st.lists(NUMBER, min_size=16, max_size=16).filter(lambda v: max(map(abs, v)) > 0.01)


def _cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


@pytest.mark.slow
@given(VECTOR, VECTOR)
def test_a_stored_vector_keeps_its_direction(one: list[float], other: list[float]) -> None:
    found = nearness(unpack(pack(one)), unpack(pack(other)))
    assert found == pytest.approx(_cosine(one, other), abs=0.03)


@pytest.mark.slow
@given(VECTOR, VECTOR, st.lists(VECTOR, max_size=2))
def test_neighbours_count_in_part(
    query: list[float], own: list[float], near: list[list[float]]
) -> None:
    unit = [[value / math.sqrt(sum(v * v for v in each)) for value in each] for each in near]
    length = math.sqrt(sum(v * v for v in own))
    mixed = [
        value / length + NEIGHBOUR * sum(each[at] for each in unit) for at, value in enumerate(own)
    ]
    found = nearness_among(
        unpack(pack(query)), unpack(pack(own)), [unpack(pack(each)) for each in near]
    )
    assert found == pytest.approx(_cosine(query, mixed), abs=0.08)


def test_a_vector_takes_a_byte_for_each_number_and_four() -> None:
    stored = pack([0.5] * 384)
    assert (len(stored), dimensions(stored)) == (388, 384)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf], [1.0] * 9_000])
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"vector|numbers"):
        pack(values)


def test_both_scores_count_from_nothing_to_all() -> None:
    assert fuse([10.0, 4.0, 2.0], {0: 0.1, 1: 0.9, 2: 0.5}, 0.5) == [1.0, 0.25 + 0.5, 0.25]
    assert fuse([3.0, 3.0], {0: 0.2, 1: 0.2}, 0.5) == [0.0, 0.0]


def test_what_has_no_vector_counts_as_the_middle() -> None:
    assert fuse([1.0, 1.0, 1.0, 1.0], {0: 0.0, 1: 1.0, 2: 0.5}, 1.0)[3] == 0.5
