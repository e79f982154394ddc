"""The action table: complete, without clashes, and in step with handlers and docs/KEYS.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_tui.actions import ACTIONS, PLACES, SLASH_WORDS, Action, actions_of
from groupx_tui.keymap import TERMINAL_KEYS
from support.does import actions_done_below
from support.key_docs import keys_page

NOUNS = {action_id.split(".")[0] for action_id in ACTIONS}
KEYS_PAGE = Path(__file__).parents[2] / "docs" / "KEYS.md"


def test_no_key_means_two_things_in_one_place() -> None:
    for place in PLACES:
        keys = [key for action in actions_of(place) for key in action.keys]
        assert sorted(keys) == sorted(set(keys)), place


def test_no_action_needs_a_key_that_terminals_keep() -> None:
    used = {key for action in ACTIONS.values() for key in action.keys}
    assert not used & set(TERMINAL_KEYS)


def test_the_prefix_of_screen_is_never_the_only_key() -> None:
    assert all(action.keys != ("ctrl+a",) for action in ACTIONS.values())


def test_the_key_of_terminals_menus_is_never_the_only_key() -> None:
    assert all(action.keys[:1] != ("f10",) for action in ACTIONS.values())


def test_every_slash_word_is_one_action() -> None:
    words = [action.slash for action in ACTIONS.values() if action.slash]
    assert len(words) == len(SLASH_WORDS)


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.id)
def test_every_action_tells_what_it_does_in_a_sentence(action: Action) -> None:
    assert action.label
    assert action.help.endswith(".")
    assert action.where in PLACES


def test_everything_in_the_palette_can_also_be_done_by_key_or_word() -> None:
    without = [a.id for a in ACTIONS.values() if a.in_palette and not a.keys and not a.slash]
    assert without == []


def test_the_page_of_keys_is_what_the_table_says() -> None:
    assert KEYS_PAGE.read_text("utf-8") == keys_page(), "run python tests/support/key_docs.py"


def test_every_action_is_done_by_a_test_through_the_window() -> None:
    done = actions_done_below(Path(__file__).parent)
    assert [action_id for action_id in ACTIONS if action_id not in done] == []


def test_a_test_cannot_say_that_it_does_what_is_no_action() -> None:
    done = {name for name in actions_done_below(Path(__file__).parent) if "." in name}
    assert {name for name in done if name.split(".")[0] in NOUNS} <= set(ACTIONS)
