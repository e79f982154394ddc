"""Parts and stacks: laid out once, heights summed at the cost of a bucket."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.strip import Strip

from groupx_tui.render.palette import PLAIN, Palette
from groupx_tui.render.row import Layout, Row
from groupx_tui.widgets.timeline.parts import BUCKET, Part, Stack


def _part(rows: int, guess: int = 1) -> Part:
    return Part(
        "x", rows, lambda _w, _p: Layout([Row(Strip.blank(0)) for _ in range(rows)]), lines=guess
    )


def test_a_part_is_laid_out_once_for_each_width_and_palette() -> None:
    part = _part(3)
    layout = part.layout(40, PLAIN)
    assert part.layout(40, PLAIN) is layout
    assert part.layout(41, PLAIN) is not layout
    assert part.layout(41, Palette()) is not part.layout(41, PLAIN)


def test_a_height_is_a_guess_until_seen_and_outlives_the_rows() -> None:
    part = _part(3, guess=2)
    assert part.height(40) == 2
    part.layout(40, PLAIN)
    part.forget()
    assert part.height(40) == 3
    assert part.height(80) == 2


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3 * BUCKET),
    st.lists(st.integers(0, 3 * BUCKET), max_size=20),
    st.integers(0, 3 * BUCKET),
)
def test_sums_are_those_of_the_parts_whatever_was_seen(
    heights: list[int], seen: list[int], late: int
) -> None:
    stack = Stack()
    for number, rows in enumerate(heights):
        if number == late:
            stack.height(40)  # from here on sums are kept up to date
        stack.append(_part(rows))
    for number in seen:
        if number < len(heights):
            stack.parts[number].layout(40, PLAIN)
    wanted = [part.height(40) for part in stack.parts]
    assert stack.height(40) == sum(wanted)
    for index in (0, len(wanted) // 2, len(wanted) - 1):
        assert stack.above(index, 40) == sum(wanted[:index])
        if wanted[index]:
            assert stack.find(sum(wanted[:index]), 40) == (index, 0)
