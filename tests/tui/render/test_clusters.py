"""What a reader takes for one character is found from any place in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from groupx_tui.render.clusters import cluster_around, clusters

EMOJI = ("❤️", "1️⃣", "🇩🇪", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "e\u0301")
pieces = st.lists(st.sampled_from([*EMOJI, "中", "a", " ", "🎉", "ｶﾞ"]), max_size=12)


@pytest.mark.parametrize("emoji", EMOJI)
def test_each_place_inside_an_emoji_finds_all_of_it(emoji: str) -> None:
    line = f"中{emoji}x"
    for column in range(2, 1 + len(emoji)):
        found = cluster_around(line, column)
        assert found is not None
        assert line[found.start : found.end] == emoji
    assert cluster_around(line, 1) is None
    assert cluster_around(line, 1 + len(emoji)) is None


@given(pieces)
def test_clusters_are_the_whole_text_and_its_cells(parts: list[str]) -> None:
    text = "".join(parts)
    found = list(clusters(text))
    assert "".join(text[start:end] for start, end, _ in found) == text
    assert sum(cells for *_, cells in found) == cell_len(text)


@given(pieces)
def test_a_place_is_inside_exactly_when_a_cluster_says_so(parts: list[str]) -> None:
    text = "".join(parts)
    inside = {at: each for each in clusters(text) for at in range(each[0] + 1, each[1])}
    assert {at: cluster_around(text, at) for at in inside} == inside
    assert all(cluster_around(text, at) is None for at in range(len(text) + 1) if at not in inside)


def test_a_place_far_inside_a_long_line_is_found() -> None:
    line = "word " * 50_000 + "👍🏽" + "中" * 1000
    found = cluster_around(line, 250_001)
    assert found is not None
    assert (found.start, found.end) == (250_000, 250_002)
