"""Identifiers: unique, ordered by time, and told from other strings."""

from __future__ import annotations

import re
import time
import uuid

import pytest

from groupx_shared import ids
from groupx_shared.ids import (
    ACTOR_PATTERN,
    AGENT_KEY_PATTERN,
    MAIN_ROOM,
    ROOM_PATTERN,
    agent_actor,
    new_id,
)


def test_an_id_is_a_prefix_and_a_uuid_of_version_7() -> None:
    prefix, digits = new_id("evt").split("_")
    value = uuid.UUID(digits)
    assert prefix == "evt"
    assert (value.version, value.variant) == (7, uuid.RFC_4122)


def test_an_id_holds_the_time_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(new_id("evt").partition("_")[2]).int >> 80
    after = time.time_ns() // 1_000_000
    assert before <= made <= after


def test_ids_made_later_sort_later(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(1_700_000_000_000, 1_700_000_000_050))
    monkeypatch.setattr(time, "time_ns", lambda: next(moments) * 1_000_000)
    made = [new_id("turn") for _ in range(50)]
    assert made == sorted(made)


def test_ids_of_one_millisecond_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    assert len({new_id("evt") for _ in range(1_000)}) == 1_000


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("agent:codex", True),
        ("user:web", True),
        ("system:groupx", True),
        ("agent:a", True),
        ("agent:my.team/bot-2", True),
        ("agent:", False),
        ("agent:-x", False),
        ("agent:x-", False),
        ("robot:x", False),
        ("agent:a b", False),
        ("agent:x\n", False),
    ],
)
def test_actor_ids_are_told_from_other_strings(value: str, fits: bool) -> None:
    assert (ACTOR_PATTERN.fullmatch(value) is not None) is fits


@pytest.mark.parametrize("value", ["room:main", "room:a", "room:x-1.y_2", f"room:{'a' * 64}"])
def test_room_ids_fit(value: str) -> None:
    assert ROOM_PATTERN.fullmatch(value)


@pytest.mark.parametrize("value", ["room:", "main", "room:Main", "room:-a", f"room:{'a' * 65}"])
def test_what_is_no_room_id_does_not_fit(value: str) -> None:
    assert ROOM_PATTERN.fullmatch(value) is None


def test_the_main_room_has_a_room_id() -> None:
    assert ROOM_PATTERN.fullmatch(MAIN_ROOM)


def test_an_agent_key_becomes_its_actor_id_once() -> None:
    assert agent_actor("codex") == agent_actor("agent:codex") == "agent:codex"
    assert ACTOR_PATTERN.fullmatch(agent_actor("codex"))


def test_reserved_keys_are_not_names_for_agents_to_take() -> None:
    assert {key for key in ids.RESERVED_AGENT_KEYS if AGENT_KEY_PATTERN.fullmatch(key)} == {
        "assistant"
    }
    assert re.fullmatch(AGENT_KEY_PATTERN, "__assistant__") is None
