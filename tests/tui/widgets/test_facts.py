"""Labels and wrapped texts: the text stays in its column."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from groupx_tui.widgets.facts import BLANK, Fact, FactList, heading, paragraph


def test_a_long_text_wraps_beside_its_label() -> None:
    facts = FactList([Fact(Content("key"), Content("one two three four"))], 6)
    assert [line.plain.rstrip() for line in facts.lines(16)] == [
        "key   one two",
        "      three four",
    ]


def test_headings_and_paragraphs_take_the_whole_width() -> None:
    lines = FactList([heading("Title"), BLANK, paragraph("a b c d e f g h")], 6).lines(8)
    assert [line.plain.rstrip() for line in lines] == ["Title", "", "a b c d", "e f g h"]


@given(st.text(alphabet="ab 你\n", max_size=40), st.integers(16, 40))
def test_no_line_is_wider_than_the_window(text: str, width: int) -> None:
    lines = FactList([Fact(Content("label"), Content(text))], 8).lines(width)
    assert all(line.cell_length <= width for line in lines)
