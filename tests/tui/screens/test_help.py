"""The help is the action table, the place one is in first."""

from __future__ import annotations

from groupx_tui.actions import ACTIONS, PLACES
from groupx_tui.keymap import DEFAULT_KEYS, build_keymap
from groupx_tui.screens.help import help_facts


def texts(place: str = "timeline") -> list[str]:
    facts = help_facts(DEFAULT_KEYS, place)  # type: ignore[arg-type]
    return [f"{fact.label.plain} {fact.text.plain}".strip() for fact in facts]


def test_every_key_and_word_is_explained() -> None:
    shown = texts()
    for action in ACTIONS.values():
        if action.keys or action.slash:
            assert any(line.endswith(action.help) for line in shown), action.id


def test_the_place_one_comes_from_stands_first() -> None:
    headings = [line for line in texts() if line.removesuffix(" (here)") in PLACES.values()]
    assert headings[0] == "Reading (here)"
    assert len(headings) == len(PLACES)


def test_a_persons_own_keys_are_shown() -> None:
    facts = help_facts(build_keymap({"room.next": "f9"}), "composer")
    assert any(fact.label.plain == "f9" for fact in facts)
