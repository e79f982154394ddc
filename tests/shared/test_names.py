"""Sentences about unknown names help to find the right one."""

from __future__ import annotations

from groupx_shared.names import nearest, unknown_name

AGENTS = ["codex", "claude", "kimi"]


def test_a_near_name_is_proposed() -> None:
    assert nearest("kimmi", AGENTS) == "kimi"
    assert unknown_name("agent", "kimmi", AGENTS) == (
        "There is no agent “kimmi”. Did you mean “kimi”?"
    )


def test_far_names_are_listed_in_order() -> None:
    assert nearest("zzz", AGENTS) is None
    assert unknown_name("agent", "zzz", AGENTS) == (
        "There is no agent “zzz”. Known: claude, codex, kimi."
    )


def test_a_long_list_is_shortened() -> None:
    sentence = unknown_name("room", "zzz", [f"room{n}" for n in range(9)])
    assert sentence.endswith("room7 ….")


def test_no_names_at_all_is_said() -> None:
    assert unknown_name("room", "x", []) == "There is no room “x”; there are none at all."


def test_a_hostile_name_is_cleaned_and_shortened() -> None:
    sentence = unknown_name("room", "\x1b[2J" + "x" * 500, [])
    assert "\x1b" not in sentence
    assert len(sentence) < 150
