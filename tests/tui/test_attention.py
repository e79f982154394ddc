"""What a terminal is told so that a person looks: the right thing, and nothing that it may show
as something else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_tui.attention import BELL, Mode, attention, sentence_of, shows_progress
from groupx_tui.state.model import Author, TurnBlock
from support import timelines

KITTY = {"TERM": "xterm-kitty"}
ITERM = {"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}
FOOT = {"TERM": "foot"}


@pytest.mark.parametrize(
    ("environ", "mode", "sequence"),
    [
        ({}, "auto", BELL),
        (KITTY, "auto",
         "\x1b]99;i=groupx:d=0;GroupX\x1b\\\x1b]99;i=groupx:d=1:p=body;codex answered\x1b\\"),
        ({"KITTY_WINDOW_ID": "1", "TERM": "xterm"}, "auto",
         "\x1b]99;i=groupx:d=0;GroupX\x1b\\\x1b]99;i=groupx:d=1:p=body;codex answered\x1b\\"),
        (ITERM, "auto", "\x1b]9;GroupX: codex answered\x07"),
        (FOOT, "auto", "\x1b]777;notify;GroupX;codex answered\x07"),
        (ITERM, "bell", BELL),
        (ITERM, "off", ""),
        ({**ITERM, "TMUX": "/tmp/x"}, "auto", BELL),
        ({**ITERM, "STY": "1.x"}, "auto", BELL),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, "auto", BELL),
    ],
)  # fmt: skip
def test_each_terminal_is_told_in_its_own_way(
    environ: dict[str, str], mode: Mode, sequence: str
) -> None:
    assert attention("codex answered", mode, environ) == sequence


@given(st.text(max_size=300), st.sampled_from([KITTY, ITERM, FOOT]))
def test_no_text_can_end_a_sequence_or_add_a_field(text: str, environ: dict[str, str]) -> None:
    written = attention(text, "auto", environ)
    inside = re.sub(r"^\x1b\]|(\x07|\x1b\\)$", "", written.replace("\x1b\\\x1b]", ";"))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", inside)
    plain = attention("x", "auto", environ)
    assert written.count(";") == plain.count(";")
    assert not written.startswith("\x1b]9;4")


@pytest.mark.parametrize(
    ("environ", "is_so"),
    [
        ({}, False),
        ({"WT_SESSION": "x"}, True),
        ({"ConEmuANSI": "ON"}, True),
        ({"TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.2.0"}, True),
        ({"TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.1.3"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.10"}, True),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.14"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": ""}, False),
        ({"TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203"}, False),
        ({"VTE_VERSION": "7900"}, True),
        ({"VTE_VERSION": "7600"}, False),
        ({"VTE_VERSION": "7900", "TMUX": "/tmp/x"}, False),
        ({"VTE_VERSION": "new"}, False),
    ],
)
def test_progress_is_sent_only_where_it_is_known_to_be_taken(
    environ: dict[str, str], is_so: bool
) -> None:
    assert shows_progress(environ) is is_so


def ended(phase: str, name: str = "codex", **more: Any) -> TurnBlock:
    return timelines.turn(1, "x", phase, author=Author(f"agent:{name}", name, "agent"), **more)


@pytest.mark.parametrize(
    ("turns", "sentence"),
    [
        ((), ""),
        ((ended("completed"),), "codex answered"),
        ((ended("completed", hop_count=1),), ""),
        ((ended("failed", hop_count=1),), "codex failed"),
        ((ended("cancelled", certainty="delivered"),), ""),
        ((ended("interrupted", certainty="unknown"),), "codex: uncertain how far it came"),
        ((ended("failed", certainty="unknown"),), "codex: uncertain how far it came"),
        ((ended("failed"), ended("completed"), ended("cancelled")), "codex failed and 1 more"),
    ],
)  # fmt: skip
def test_a_person_is_called_for_answers_to_him_and_for_what_went_wrong(
    turns: tuple[TurnBlock, ...], sentence: str
) -> None:
    assert sentence_of(turns) == sentence
