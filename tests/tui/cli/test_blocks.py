"""Answers of several agents are printed whole, in order, never mixed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.cli.blocks import BlockPrinter


class Page:
    def __init__(self, *keys: str) -> None:
        self.writes: list[str] = []
        self.printer = BlockPrinter({key: f"[{key}]" for key in keys}, self.writes.append)

    @property
    def text(self) -> str:
        return "".join(self.writes)


def test_one_answer_is_its_text_alone_as_it_comes() -> None:
    page = Page("a")
    page.printer.piece("a", "Hel")
    assert page.text == "Hel"
    page.printer.piece("a", "lo\n")
    page.printer.end("a")
    assert page.text == "Hello\n"


def test_a_last_line_without_its_end_gets_one() -> None:
    page = Page("a")
    page.printer.piece("a", "Hello")
    page.printer.end("a")
    assert page.text == "Hello\n"


def test_an_answer_without_text_prints_nothing() -> None:
    page = Page("a", "b")
    page.printer.end("a")
    page.printer.end("b")
    assert page.text == ""


def test_the_next_speaker_goes_on_live_after_the_finished_ones() -> None:
    page = Page("a", "b", "c")
    page.printer.piece("a", "A")
    page.printer.piece("b", "B1 ")
    page.printer.piece("c", "C")
    page.printer.end("c")
    page.printer.end("a")
    assert page.text == "[a]\nA\n\n[c]\nC\n\n[b]\nB1 "
    page.printer.piece("b", "B2")
    assert page.text.endswith("[b]\nB1 B2")


def test_giving_up_prints_what_has_come() -> None:
    page = Page("a", "b")
    page.printer.piece("a", "A")
    page.printer.piece("b", "B")
    page.printer.give_up()
    assert page.text == "[a]\nA\n\n[b]\nB\n"


def test_a_line_end_split_over_two_pieces_is_one_line_end() -> None:
    page = Page("a")
    page.printer.piece("a", "one\r")
    assert page.text == "one"
    page.printer.piece("a", "\ntwo\r")
    page.printer.end("a")
    assert page.text == "one\ntwo␍\n"


@given(st.lists(st.sampled_from("abc"), max_size=30), st.permutations("abc"))
def test_every_block_is_whole_and_printed_once(order: list[str], ends: list[str]) -> None:
    page = Page(*"abc")
    expected: dict[str, str] = dict.fromkeys("abc", "")
    for number, key in enumerate(order):
        text = f"{key}{number} "
        expected[key] += text
        page.printer.piece(key, text)
    for key in ends:
        page.printer.end(key)
    blocks = dict(block.split("\n", 1) for block in page.text.split("\n\n") if block)
    found = {label[1]: text.rstrip("\n") for label, text in blocks.items()}
    assert found == {key: text for key, text in expected.items() if text}
