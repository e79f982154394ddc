"""The lines above the text say what Enter will do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupx_tui.widgets.composer.lines import (
    Reply,
    counter,
    meter,
    reply_line,
    target_line,
    too_long,
)
from groupx_tui.widgets.composer.slash import parse_slash
from groupx_tui.widgets.composer.targets import Targets, find_targets
from support.fake_session import CODEX, GUIDE, KIMI, OFF, YOU

AGENTS = (GUIDE, CODEX, KIMI, OFF)


def line(text: str, targets: Targets | None = None) -> str:
    found = targets or find_targets(text, AGENTS)
    return target_line(found, parse_slash(text), is_known=True).plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hello", "→ Guide"),
        ("@codex @guide", "→ Codex, Guide"),
        ("@all", "→ everybody (3)"),
        ("@kimi-k2", "→ Kimi (cannot start)"),
        ("@old", "→ Old one (switched off)"),
        ("@kimmi go", "→ Guide · there is no agent “@kimmi”"),
        ("/rename x", "/ Give this room another title."),
        ("/find x", "→ Guide"),
    ],
)
def test_it_names_the_agents_or_the_command(text: str, shown: str) -> None:
    assert line(text) == shown


def test_nobody_is_said_when_there_is_nobody() -> None:
    assert line("hello", find_targets("hello", ())) == "→ nobody: no agent is switched on"


def test_nothing_is_said_while_the_agents_are_unknown() -> None:
    assert target_line(find_targets("x", ()), None, is_known=False).plain == ""


def test_a_busy_agent_is_told_before_sending() -> None:
    busy = replace(CODEX, active_turn_id="turn_1")
    assert "busy" in line("x", Targets((busy,), "mention"))


def test_many_names_are_counted() -> None:
    many = tuple(replace(CODEX, actor_id=f"agent:a{n}", name=f"A{n}") for n in range(7))
    assert line("x", Targets(many, "mention")) == "→ A0, A1, A2, A3 and 3 more"


def test_a_reply_is_shown_in_one_line_without_control_characters() -> None:
    reply = Reply("evt_1", YOU, "first\nsecond \x1b[31m" + "x" * 300)
    left, right = reply_line(reply, "esc")
    shown = left.plain
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert "You: first second" in shown
    assert right.plain == "esc drops it"


@pytest.mark.parametrize(
    ("length", "shown"),
    [(0, ""), (799, ""), (800, "200 characters left"), (1000, "0 characters left"),
     (1001, "1 characters too many"), (3000, "2,000 characters too many")],
)  # fmt: skip
def test_the_counter_shows_once_it_matters(length: int, shown: str) -> None:
    assert counter(length, 1000).plain == shown


def test_the_refusal_tells_both_numbers_and_that_the_text_is_kept() -> None:
    sentence = too_long(140_000, 131_072)
    assert "140,000" in sentence
    assert "131,072" in sentence
    assert "kept" in sentence


@pytest.mark.parametrize(
    ("percent", "says"),
    [
        (None, ""),
        (59.9, ""),
        (60.0, "context 60% full"),
        (100.4, "context 100% full"),
        (130.2, "context 130%: more than fits, see /context"),
        (41_230.0, "context 41,230%: more than fits, see /context"),
    ],
)
def test_the_meter_says_the_true_figure_once_it_matters(percent: float | None, says: str) -> None:
    assert meter(percent).plain == says
