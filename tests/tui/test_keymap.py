"""A person's own keys over the defaults: taken, or refused with a sentence that helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_shared.errors import ConfigError
from groupx_tui.actions import ACTIONS
from groupx_tui.keymap import DEFAULT_KEYS, build_keymap, clashes, load_keymap, show_key


def test_an_override_replaces_all_keys_of_its_action() -> None:
    keymap = build_keymap({"room.next": ["alt+n", "f9"]})
    assert keymap.of("room.next") == ("alt+n", "f9")
    assert keymap.shown("room.next") == "alt+n"


def test_a_key_that_is_taken_leaves_its_old_action() -> None:
    keymap = build_keymap({"room.next": "ctrl+g"})
    assert "ctrl+g" not in keymap.of("turn.cancel")


def test_an_empty_list_takes_the_keys_away() -> None:
    assert build_keymap({"app.suspend": []}).of("app.suspend") == ()


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"room.nxt": "alt+n"}, ["room.nxt", "room.next"]),
        ({"room.next": "ctlr+n"}, ["room.next", "ctlr+n", "ctrl"]),
        ({"room.next": "ctrl+pgup2"}, ["no key"]),
        ({"room.next": "ctrl+pageupp"}, ["pageup"]),
        ({"room.next": "ctrl+s"}, ["terminals use it"]),
        ({"room.next": "n"}, ["could not be typed"]),
        ({"room.next": 5}, ["expected a key"]),
        ({"room.next": "f9", "room.previous": "f9"}, ["f9", "room.next", "room.previous"]),
    ],
)
def test_a_wrong_entry_is_refused_with_a_sentence(
    overrides: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        build_keymap(overrides, "keys.json")
    assert caught.value.message.startswith("keys.json: ")
    assert all(word in caught.value.message for word in words)


@pytest.mark.parametrize(
    ("action_id", "key", "words"),
    [
        ("room.next", "ctrl+g", ["taken from “Stop an agent's turn”, which has no key then"]),
        ("room.next", "ctrl+pageup", ["taken from “Previous room”."]),
        ("room.next", "ctrl+d", ["In “Writing” it means", "In “Reading” it means"]),
        ("block.copy", "ctrl+o", ["In “Reading” it means “Copy”"]),
        ("room.next", "ctrl+a", ["screen uses it as its prefix", "In “Writing”"]),
        ("room.next", "f11", ["full screen"]),
        ("room.next", "alt+n", []),
    ],
)
def test_what_a_key_would_take_is_known_beforehand(
    action_id: str, key: str, words: list[str]
) -> None:
    told = clashes(DEFAULT_KEYS, action_id, key)
    assert bool(told) == bool(words)
    assert all(word in "\n".join(told) for word in words)


@pytest.mark.parametrize("key", ["ctrl+i", "ctrl+m", "ctrl+h", "ctrl+b", "ctrl+s", "ctrl+q"])
def test_a_key_that_never_arrives_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        build_keymap({"room.next": key})


def test_the_same_key_may_mean_two_things_in_two_places() -> None:
    keymap = build_keymap({"block.copy": "f9", "panel.open": "f9"})
    assert keymap.of("block.copy") == keymap.of("panel.open") == ("f9",)


def test_without_a_file_the_defaults_are_used(tmp_path: Path) -> None:
    assert load_keymap(tmp_path / "keys.json") is DEFAULT_KEYS


@pytest.mark.parametrize("text", ["{", "[]", '{"keys": []}', '"x"'])
def test_a_file_that_is_no_key_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"keys\.json"):
        load_keymap(path)


def test_a_file_with_keys_is_read(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": {"room.next": "alt+n"}}))
    assert load_keymap(path).of("room.next") == ("alt+n",)


def test_keys_are_shown_as_people_read_them() -> None:
    assert [show_key(key) for key in ("ctrl+pageup", "up", "escape", "+", "ctrl+underscore")] == [
        "ctrl+pgup",
        "↑",
        "esc",
        "+",
        "ctrl+_",
    ]


@given(
    st.dictionaries(
        st.sampled_from(sorted(ACTIONS)),
        st.lists(st.sampled_from(["f9", "f10", "alt+n", "alt+p", "ctrl+g", "ctrl+p"]), max_size=2),
        max_size=4,
    )
)
def test_whatever_is_chosen_no_place_has_a_key_twice(overrides: dict[str, object]) -> None:
    try:
        keymap = build_keymap(overrides)
    except ConfigError:
        return
    pairs = [(ACTIONS[name].where, key) for name, keys in keymap.keys.items() for key in set(keys)]
    assert len(pairs) == len(set(pairs))
