"""Quotations hold what they quote."""

from __future__ import annotations

from datetime import UTC, datetime

from groupx_server.builtin_agent.quoting import (
    QUOTE_LINES,
    as_data,
    as_data_line,
    heading,
    one_line,
    plain,
    quote,
    quoted,
    when,
)
from groupx_server.builtin_agent.room_api import RoomMessage


def _message(content: str, author: str = "You") -> RoomMessage:
    return RoomMessage(7, "user:web", author, content, datetime(2026, 11, 30, 12, 5, tzinfo=UTC))


def test_every_line_of_a_quotation_is_marked() -> None:
    text = quoted(_message("one\n# two\n\n```\nthree"))
    head, *lines = text.split("\n")
    assert head.startswith("**You** · ")
    assert head.endswith(" · #7")
    assert all(line.startswith("> ") for line in lines)


def test_long_quotations_are_cut_and_say_so() -> None:
    assert "cut" in quoted(_message("x" * 2000))
    assert quote("\n".join("abcdefghijklmnop")).endswith(f"[… {16 - QUOTE_LINES} more lines]")


def test_a_name_opens_no_markdown() -> None:
    assert plain("*a*_b_`c`[d]") == r"\*a\*\_b\_\`c\`\[d\]"
    assert r"\*" in heading(_message("x", "*bold*"))


def test_an_unknown_time_is_said() -> None:
    assert when(None) == "at an unknown time"
    assert when(datetime(2026, 11, 30, 12, 5).astimezone()) == "2026-11-30 12:05"


def test_one_line_is_one_line() -> None:
    assert one_line(_message("a\n\nb" + "c" * 500)).count("\n") == 0


def test_data_is_fenced_by_a_word_that_changes() -> None:
    first, second = as_data(["a"], 100), as_data(["a"], 100)
    assert first != second
    assert first.split("\n")[1] == "a"
    assert as_data_line(_message("a\nb"), 100).endswith("(user:web):\n  a\n  b")
