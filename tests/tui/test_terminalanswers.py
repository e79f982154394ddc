"""What a terminal answers: understood, never typed."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui import terminalanswers
from groupx_tui.terminalanswers import DEVICE_QUESTION, KITTY_QUESTION, Shows, TerminalAnswers

XTERM = "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"
VT340 = "\x1b[?63;1;2;3;4;6;8;9;15;16;17;18;21;22;28c"
KITTY = "\x1b_Gi=31;OK\x1b\\"


def asked() -> TerminalAnswers:
    answers = TerminalAnswers()
    answers.question(is_multiplexed=False)
    return answers


@pytest.mark.parametrize(
    ("answer", "shows"),
    [
        (KITTY + "\x1b[?62c", "kitty"),
        (KITTY + VT340, "kitty"),
        (VT340, "sixel"),
        (XTERM, "text"),
        ("\x1b[?1;2c", "text"),
        ("\x1b[?4c", "text"),
        ("\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\\x1b[?62;4c", "sixel"),
    ],
)
async def test_the_answer_tells_how_pictures_are_shown(answer: str, shows: Shows) -> None:
    answers = asked()
    waiting = asyncio.timeout(5)
    async with waiting, asyncio.TaskGroup() as group:
        found = group.create_task(answers.shows())
        await asyncio.sleep(0)
        await asyncio.to_thread(answers.feed, answer)
    assert found.result() == shows
    assert await answers.shows() == shows


async def test_a_terminal_that_says_nothing_shows_none_and_may_answer_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminalanswers, "ASK_S", 0.0)
    answers = asked()
    assert await answers.shows() == "text"
    assert not answers.has_answer
    assert answers.feed("a" + VT340 + "b") == "ab"
    assert await answers.shows() == "sixel"


@given(st.lists(st.integers(0, 60), max_size=6), st.text("ab\r\x7f", max_size=4), st.text("cd"))
def test_no_part_of_an_answer_is_typed_however_it_comes(
    cuts: list[int], before: str, after: str
) -> None:
    data = before + KITTY + VT340 + after
    answers, typed, last = asked(), "", 0
    for cut in [*sorted(cuts), len(data)]:
        typed += answers.feed(data[last:cut])
        last = max(last, cut)
    assert typed + answers.release() == before + after


@given(
    st.lists(st.sampled_from(["a", "\x1b", "\x1b[A", "\x1b[?", "\x1b[200~x\x1b[201~", "\x1b_G"]))
)
def test_what_is_typed_arrives_whole_and_in_order(pieces: list[str]) -> None:
    answers = asked()
    typed = "".join(answers.feed(piece) for piece in pieces) + answers.release()
    assert typed == "".join(pieces)


def test_before_anything_was_asked_nothing_is_held_back() -> None:
    assert TerminalAnswers().feed("\x1b") == "\x1b"


def test_in_a_multiplexer_only_what_it_answers_itself_is_asked() -> None:
    assert TerminalAnswers().question(is_multiplexed=True) == DEVICE_QUESTION
    assert TerminalAnswers().question(is_multiplexed=False) == KITTY_QUESTION + DEVICE_QUESTION
