"""What goes to stdout is lined up, harmless, and whole."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_harmless_json_is_the_same_json(text: str) -> None:
    encoded = json.dumps({"text": text}, ensure_ascii=False)
    harmless = output.harmless_json(encoded)
    assert json.loads(harmless) == {"text": text}


def test_harmless_json_holds_nothing_that_a_terminal_acts_on() -> None:
    text = "".join(map(chr, [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x202E, 0x2066, 0xDC80]))
    harmless = output.harmless_json(json.dumps(text, ensure_ascii=False))
    assert harmless.isascii()
    assert harmless.isprintable()


def test_a_table_lines_up_also_with_wide_characters(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(("A", "B"), [("你好", "x"), ("e\u0301", "y"), ("plain", "")])
    assert capsys.readouterr().out == "A      B\n你好   x\ne\u0301      y\nplain\n"


def test_an_empty_table_is_its_headings(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(("A", "B"), [])
    assert capsys.readouterr().out == "A  B\n"


def test_cells_are_cleaned_and_cut(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(("A",), [("a\x1b[2J\nb",), ("x" * 99,)])
    assert capsys.readouterr().out == f"A\na␛[2J b\n{'x' * 59}…\n"


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, "\x1b[1mx\x1b[0m"),
        (True, {"NO_COLOR": "1"}, "x"),
        (True, {"TERM": "dumb"}, "x"),
        (False, {}, "x"),
    ],
)
def test_colours_only_on_a_terminal_that_wants_them(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], expected: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    assert output.styled("x", "1") == expected


def test_what_the_encoding_lacks_becomes_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.prepare()
    output.write("hé")
    assert raw.getvalue() == b"h?"


def test_json_lines_are_compact_and_readable(capsys: pytest.CaptureFixture[str]) -> None:
    output.json_line({"a": "你", "b": [1, None]})
    assert capsys.readouterr().out == '{"a":"你","b":[1,null]}\n'
