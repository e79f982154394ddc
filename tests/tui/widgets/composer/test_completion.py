"""What can be taken at the caret."""

from __future__ import annotations

import pytest

from groupx_tui.widgets.composer.completion import Completion, Known, complete
from support.fake_session import CODEX, GUIDE, KIMI, OFF, ROOMS

KNOWN = Known((GUIDE, CODEX, KIMI, OFF), ROOMS, ("nord", "mono"), has_guide=True)


def at(text: str, *, is_first_line: bool = True, known: Known = KNOWN) -> Completion | None:
    return complete(text, len(text), is_first_line=is_first_line, known=known)


def texts(text: str, *, is_first_line: bool = True) -> list[str]:
    found = at(text, is_first_line=is_first_line)
    return [] if found is None else [candidate.text for candidate in found.candidates]


def test_an_at_sign_offers_the_enabled_agents_and_everybody() -> None:
    assert texts("hello @") == ["@guide", "@codex", "@kimi-k2", "@all"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("@co", "@codex"),
        ("@k2", "@kimi-k2"),
        ("@Gui", "@guide"),
        ("@gd", "@guide"),
        ("@al", "@all"),
    ],
)
def test_letters_find_the_agent(typed: str, first: str) -> None:
    assert texts(f"say {typed}")[0] == first


def test_the_replaced_part_is_what_was_typed_of_the_name() -> None:
    found = at("say @co")
    assert found is not None
    assert (found.start, found.end) == (4, 7)


@pytest.mark.parametrize("text", ["me@co", "@codex ", "plain", "@zzz", "a/b"])
def test_nothing_is_offered_where_nothing_is_named(text: str) -> None:
    assert at(text) is None


def test_a_slash_offers_commands_and_says_which_go_to_the_agent() -> None:
    found = at("/")
    assert found is not None
    by_text = {candidate.text: candidate for candidate in found.candidates}
    assert "sent to the agent" in by_text["/find"].detail
    assert "sent to the agent" not in by_text["/help"].detail
    assert "sent to the agent" in by_text["//help"].detail


def test_the_guides_commands_are_offered_only_when_the_guide_gets_them() -> None:
    found = at("/", known=Known((CODEX,), ROOMS, (), has_guide=False))
    assert found is not None
    assert "/find" not in [candidate.text for candidate in found.candidates]


def test_an_exact_word_stands_first() -> None:
    assert texts("/room")[0] == "/room"
    assert texts("/re")[0] in {"/rename", "/restore", "/restart", "/retry"}


def test_commands_are_offered_only_at_the_very_start() -> None:
    assert texts("see /re") == []
    assert texts("/re", is_first_line=False) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/room wo", ["Work on the parser"]),
        ("/restore ", ["Done things"]),
        ("/theme n", ["nord", "mono"]),
        ("/jump f", ["first"]),
        ("/restart @co", ["@codex"]),
        ("/restart kim", ["@kimi-k2"]),
        ("/rename x", []),
        ("/find x", []),
    ],
)
def test_the_names_after_a_command_are_offered(text: str, found: list[str]) -> None:
    assert texts(text) == found
