"""The document: what changes of a view cost and keep, and walking its rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.state.model import Block
from groupx_tui.widgets.timeline.document import MAX_LAYOUTS, MAX_STATES, Document, Ref, Scene
from support import timelines


def _document(*blocks: Block) -> Document:
    document = Document(Scene(width=40, tz=UTC))
    document.show(timelines.view(*blocks))
    return document


def _rows(document: Document) -> list[str]:
    rows, ref = [], document.first()
    while ref is not None:
        rows.append(document.row(ref).strip.text)
        ref = document.down(ref)
    return rows


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "prepend", "replace", "remove", "rename", "move"]),
        st.integers(0, 100),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(_STEPS)
@settings(max_examples=80, deadline=None)
def test_any_change_of_the_blocks_gives_the_rows_of_the_newest(
    steps: list[tuple[str, int]],
) -> None:
    blocks: list[Block] = [timelines.message(n, f"text {n}") for n in range(100, 106)]
    document = _document(*blocks)
    fresh = 1_000
    for name, number in steps:
        fresh += 1
        where = number % len(blocks) if blocks else 0
        if name == "append":
            blocks.append(timelines.message(fresh, "new"))
        elif name == "prepend":
            blocks[:0] = [timelines.message(fresh, "old"), timelines.notice(fresh + 5_000)]
        elif name == "rename":
            blocks[where : where + 1] = [timelines.message(fresh, "other")]
        elif blocks and name == "replace":
            blocks[where] = replace(blocks[where], text=f"changed {fresh}")  # type: ignore[arg-type]
        elif blocks and name == "remove":
            del blocks[where]
        elif blocks:
            blocks.append(blocks.pop(where))
        document.show(timelines.view(*blocks))
        assert len(document.heights) == len(blocks)
        assert document.counted(0, len(blocks)) == _document(*blocks).counted(0, len(blocks))
        assert [document.locate(block.block_id) for block in blocks] == list(range(len(blocks)))
    assert _rows(document) == _rows(_document(*blocks))


def test_walking_up_is_walking_down_backwards() -> None:
    document = _document(*timelines.every_kind().blocks)
    down: list[Ref] = []
    ref = document.first()
    while ref is not None:
        down.append(ref)
        ref = document.down(ref)
    up: list[Ref] = []
    ref = document.last()
    while ref is not None:
        up.append(ref)
        ref = document.up(ref)
    assert down == up[::-1]
    document.end_frame()
    assert [document.offset_of(ref) for ref in down] == list(range(len(down)))
    assert [document.ref_at(offset) for offset in range(len(down))] == down
    assert document.total_height == len(down)


def test_what_was_not_looked_at_for_long_is_dropped() -> None:
    document = _document(*(timelines.message(n, f"text {n}") for n in range(2_000)))
    ref, steps = document.first(), 0
    while ref is not None:
        ref, steps = document.down(ref), steps + 1
        if steps % 40 == 0:
            document.end_frame()
    document.end_frame()
    assert len(document._states) <= MAX_STATES
    assert len(document._layouts) <= MAX_LAYOUTS
    assert document.total_height == steps


def test_a_block_that_was_dropped_is_drawn_again_the_same() -> None:
    document = _document(*(timelines.message(n, f"text {n}") for n in range(500)))
    first = document.first()
    assert first is not None
    before = document.row(first).strip.text
    ref: Ref | None = first
    while ref is not None:
        document.end_frame()
        ref = document.down(ref)
    assert document.row(first).strip.text == before
