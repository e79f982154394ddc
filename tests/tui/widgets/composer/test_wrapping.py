"""A text area wraps by what is drawn: nothing is hidden at the edge, no emoji is torn."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from groupx_tui.render.clusters import clusters
from groupx_tui.widgets.composer.wrapping import column_at, teach_wrapping, wrap_offsets
from support.window import open_window

EMOJI = ("❤️", "1️⃣", "🇩🇪", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "e\u0301")
LINES = st.lists(
    st.sampled_from([*EMOJI, "中", "文", "。", "a", "word", " ", "  ", "🎉", "x" * 30]), max_size=40
).map("".join)


def sections(text: str, width: int) -> list[str]:
    cuts = [0, *wrap_offsets(text, width, 4), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


@given(LINES, st.integers(4, 40))
def test_sections_are_the_text_and_fit(text: str, width: int) -> None:
    parts = sections(text, width)
    assert "".join(parts) == text
    assert all(parts) or not text
    for part in parts:
        assert cell_len(part.removesuffix(" ")) <= width


@given(LINES, st.integers(4, 40))
def test_no_section_begins_inside_a_cluster(text: str, width: int) -> None:
    starts = {start for start, *_ in clusters(text)}
    assert set(wrap_offsets(text, width, 4)) <= starts


def test_chinese_goes_on_in_the_line_in_which_it_began() -> None:
    assert sections("hello 中文输入法测试很长很长很长", 20) == [
        "hello 中文输入法测试",
        "很长很长很长",
    ]


def test_a_line_with_tabs_is_wrapped_at_its_stops() -> None:
    assert sections("a\tb\tc\td", 12) == ["a\tb\tc\t", "d"]


@given(LINES)
def test_a_cell_belongs_to_the_cluster_that_is_drawn_in_it(text: str) -> None:
    left = 0
    for start, _, cells in clusters(text):
        assert all(column_at(text, left + cell, 4) == start for cell in range(cells))
        left += cells
    assert column_at(text, left, 4) == len(text)


def test_a_cell_behind_a_tab_is_found() -> None:
    assert [column_at("a\t中b", cell, 4) for cell in (0, 1, 3, 4, 5, 6, 7)] == [0, 1, 1, 2, 2, 3, 4]


def test_textual_asks_for_these_measures() -> None:
    teach_wrapping()
    document = WrappedDocument(Document("中" * 4 + "❤️" * 4), width=10)
    assert document.get_sections(0) == ["中" * 4 + "❤️", "❤️" * 3]
    assert document.offset_to_location(Offset(3, 1)) == (0, 4 + 2 + 2)


@pytest.mark.slow
async def test_nothing_that_is_written_is_hidden_at_the_edge() -> None:
    async with open_window() as window:
        written = "".join(f"中文输入法测试👍🏽❤️{number:02}" for number in range(12))
        window.app.room.composer.editor.insert(written)
        await window.settle()
        shown = [line.strip(" ❯") for line in window.screen_text().splitlines()]
        rows = window.app.room.composer.editor.size.height
        assert "".join(shown[-rows - 1 : -1]) == written
