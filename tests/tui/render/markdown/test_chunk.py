"""Markdown as rows: what each construct looks like, at any width, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_tui.render.markdown.chunk import layout_chunk
from groupx_tui.render.markdown.scanner import BlockScanner, Chunk
from groupx_tui.render.palette import PLAIN, Role
from groupx_tui.render.row import Layout, Row


def _layouts(text: str, width: int = 40) -> list[Layout]:
    scanner = BlockScanner()
    chunks = [*scanner.feed(text), *scanner.finish()]
    return [layout_chunk(chunk, width, PLAIN) for chunk in chunks]


def _rows(text: str, width: int = 40) -> list[Row]:
    return [row for layout in _layouts(text, width) for row in layout.rows]


def _lines(text: str, width: int = 40) -> list[str]:
    return [row.strip.text.rstrip() for row in _rows(text, width)]


def _styled(text: str, role: Role) -> str:
    """Return the text drawn in a role."""
    wanted = PLAIN.style(role)
    return "".join(
        segment.text for row in _rows(text) for segment in row.strip if segment.style == wanted
    )


def test_paragraphs_wrap_and_keep_their_line_breaks() -> None:
    assert _lines("one two three four five six seven eight nine\nten") == [
        "one two three four five six seven eight",
        "nine",
        "ten",
    ]


def test_emphasis_strong_code_and_strike_are_styles_only() -> None:
    text = "*one* **two** `three` ~~four~~"
    assert _lines(text) == ["one two three four"]
    assert _styled(text, Role.EMPHASIS) == "one"
    assert _styled(text, Role.STRONG) == "twothree"  # without colours code is bold as well
    assert _styled(text, Role.STRIKE) == "four"


def test_headings_have_a_style_for_their_level() -> None:
    assert _styled("# one\n## two\n### three", Role.HEADING_1) == "one"
    assert _styled("# one\n## two\n### three", Role.HEADING_3) == "three"
    assert _styled("over\n===", Role.HEADING_1) == "over"


def test_links_show_where_they_go() -> None:
    assert _lines("see [docs](http://a.b/c)") == ["see docs (http://a.b/c)"]
    assert _lines("<http://a.b/c>") == ["http://a.b/c"]
    assert _lines("![a cat](cat.png)") == ["[image: a cat] (cat.png)"]


def _opened(text: str) -> set[str]:
    """The addresses that the terminal is told to open on a click."""
    segments = [segment for row in _rows(text) for segment in row.strip]
    return {segment.style.link for segment in segments if segment.style and segment.style.link}


def test_the_terminal_is_told_where_a_link_goes_when_that_is_safe() -> None:
    assert _opened("see [docs](http://a.b/c) and <https://a.b>") == {"http://a.b/c", "https://a.b"}
    assert _opened("[mail](mailto:a@b.c)") == {"mailto:a@b.c"}


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "x.html", "http://" + "a" * 3_000]
)
def test_the_terminal_is_told_no_other_address(url: str) -> None:
    assert _opened(f"[docs]({url})") == set()


def test_definitions_of_links_stay_visible() -> None:
    assert _lines("[docs]: http://a.b/c") == ["[docs]: http://a.b/c"]


def test_html_is_text() -> None:
    assert _lines("<b>bold</b>\n<!-- note -->") == ["<b>bold</b>", "<!-- note -->"]


def test_lists_nest_number_and_have_boxes() -> None:
    assert _lines("1. one\n2. two\n   - a\n   - b\n     - deep\n\n- [ ] open\n- [x] done\n-") == [
        "1. one",
        "2. two",
        "   ◦ a",
        "   ◦ b",
        "     ▪ deep",
        "• ☐ open",
        "• ☑ done",
        "•",
    ]


def test_a_list_keeps_the_blank_lines_of_its_source() -> None:
    assert _lines("- one\n\n  more\n  - sub\n\n    text") == [
        "• one",
        "",
        "  more",
        "  ◦ sub",
        "",
        "    text",
    ]


def test_long_items_hang_under_their_text() -> None:
    assert _lines("- one two three four five", 14) == ["• one two", "  three four", "  five"]


def test_quotes_have_a_bar_on_each_line() -> None:
    assert _lines("> one two three four\n> > deep", 16) == [
        "▎ one two three",
        "▎ four",
        "▎ ▎ deep",
    ]


def test_a_rule_is_as_wide_as_the_text() -> None:
    assert _lines("---", 12) == ["─" * 12]


def test_code_shows_its_language_and_its_lines_as_they_are() -> None:
    text = "```python\ndef f():\n\n    return 'x'\n```"
    assert _lines(text) == ["╭─ python", "│ def f():", "│", "│     return 'x'"]
    (layout,) = _layouts(text)
    assert [(stop.row, stop.kind, stop.text) for stop in layout.stops] == [
        (0, "code", "def f():\n\n    return 'x'")
    ]


def test_long_code_lines_wrap_at_the_edge() -> None:
    assert _lines("```\n0123456789abcdef\n```", 12) == ["│ 0123456789", "│ abcdef"]


def test_code_in_a_list_can_be_copied_too() -> None:
    (layout,) = _layouts("1. do\n   ```sh\n   ls\n   ```")
    assert [stop.text for stop in layout.stops] == ["ls"]


def test_tables_align_by_cells_and_keep_the_last_row() -> None:
    text = "| name | n | 状态 |\n|:--|--:|:-:|\n| 中文 | 1 | ok |\n| 🎉 b | 22 | 完成了 |\n| last"
    assert _lines(text) == [
        "name │  n │  状态",
        "─────┼────┼───────",
        "中文 │  1 │   ok",
        "🎉 b │ 22 │ 完成了",
        "last │    │",
    ]


def test_wide_tables_shrink_their_widest_columns() -> None:
    text = "| id | text |\n|---|---|\n| 1 | a text that is much too long |\n| 2 | b |"
    lines = _lines(text, 20)
    assert lines[0] == "id │ text"
    assert all(len(line) <= 20 for line in lines)
    assert " ".join(line.split("│")[1].strip() for line in lines[2:-1]) == (
        "a text that is much too long"
    )
    assert lines[-1] == "2  │ b"


def test_a_table_with_too_many_columns_becomes_records() -> None:
    names = [f"column{n}" for n in range(8)]
    text = f"| {' | '.join(names)} |\n|{'---|' * 8}\n| {' | '.join('abcdefgh')} |"
    assert _lines(text, 20) == [f"column{n}: {'abcdefgh'[n]}" for n in range(8)]


def test_a_long_table_goes_on_without_a_second_head() -> None:
    rows = "\n".join(f"| {n} | {'x' * 30} |" for n in range(500))
    lines = _lines(f"| a | b |\n|---|---|\n{rows}", 60)
    assert len(lines) == 502
    assert sum(line.startswith("a ") for line in lines) == 1
    assert lines[-1].startswith("499")


_ANY = st.lists(
    st.sampled_from(
        [
            *(
                "# h",
                "text *em* `c`",
                "- a",
                "  - b",
                "1. n",
                "> q",
                ">> qq",
                "",
                "---",
                "```",
                "~~~py",
            ),
            *(
                "| a | 中 |",
                "|---|:-:|",
                "    code",
                "[x](y)",
                "![",
                "\\*",
                "&amp;",
                "word " * 9,
                "中" * 30,
            ),
        ]
    ),
    max_size=14,
).map("\n".join)


@pytest.mark.slow
@given(_ANY, st.integers(min_value=17, max_value=50))
@settings(max_examples=150)
def test_no_row_is_wider_than_the_width(text: str, width: int) -> None:
    assert all(row.strip.cell_length <= width for row in _rows(text, width))


@pytest.mark.slow
@given(_ANY)
@settings(max_examples=100)
def test_places_in_the_text_rise_from_row_to_row(text: str) -> None:
    for layout in _layouts(text, 24):
        places = [row.at for row in layout.rows]
        assert places == sorted(set(places))


@pytest.mark.slow
@given(_ANY.filter(lambda text: "|" not in text), st.integers(20, 60), st.integers(20, 60))
@settings(max_examples=100)
def test_the_logical_text_is_the_same_at_any_width(text: str, one: int, other: int) -> None:
    def logical(width: int) -> str:
        rows = [row for row in _rows(text, width) if set(row.text) != {"─"}]
        return "".join(row.text + row.joiner for row in rows)

    assert logical(one) == logical(other)


@pytest.mark.parametrize(
    "source",
    [
        "> " * 6_000 + "deep",
        "- " * 6_000 + "deep",
        "\n".join("  " * n + "- x" for n in range(120)),
        "*a **b " * 1_700,
        "[" * 12_000,
        "![" * 6_000,
        "`" * 12_000,
        "`a" * 6_000,
        "|" * 12_000,
        "a|" * 300 + "\n" + "-|" * 300 + "\n" + "b|" * 300,
    ],
    ids=[
        "quotes",
        "bullets",
        "ladder",
        "stars",
        "brackets",
        "images",
        "ticks",
        "spans",
        "bars",
        "columns",
    ],
)
def test_pathological_blocks_are_laid_out_whole(source: str) -> None:
    layout = layout_chunk(Chunk("markdown", source), 60, PLAIN)
    shown = "".join(row.strip.text for row in layout.rows)
    assert layout.rows
    if source.endswith("deep"):
        assert "deep" in shown


def test_a_block_nested_too_deep_is_shown_as_it_is_written() -> None:
    source = "> " * 100 + "end"
    rows = layout_chunk(Chunk("markdown", source), 60, PLAIN).rows
    assert "".join(row.text + row.joiner for row in rows).strip() == source
