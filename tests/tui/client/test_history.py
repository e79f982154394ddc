"""Sent texts come back after a restart, in order, bounded, private."""

from __future__ import annotations

import json
from unittest.mock import patch

from groupx_shared.workspace import default_workspace
from groupx_tui.client import history
from groupx_tui.client.history import MAX_ENTRY_CHARS, HistoryStore, history_file

MAIN = "room:main"


def test_sent_texts_are_there_after_a_restart_by_room() -> None:
    store = HistoryStore(default_workspace())
    for text in ("one", "two", "two", " ", "three"):
        store.add(MAIN, text)
    store.add("room:other", "elsewhere")
    again = HistoryStore(default_workspace())
    assert again.load(MAIN) == ["one", "two", "three"]
    assert again.load("room:other") == ["elsewhere"]
    assert again.load("room:new") == []
    assert history_file(default_workspace()).stat().st_mode & 0o077 == 0


def test_two_windows_share_one_history() -> None:
    first, second = HistoryStore(default_workspace()), HistoryStore(default_workspace())
    first.add(MAIN, "from the first")
    second.add(MAIN, "from the second")
    assert first.load(MAIN) == ["from the first", "from the second"]


def test_the_oldest_go_first() -> None:
    store = HistoryStore(default_workspace())
    with (
        patch.object(history, "MAX_ENTRIES", 3),
        patch.object(history, "MAX_ROOMS", 2),
        patch.object(history, "MAX_ALL_CHARS", 10),
    ):
        for number in range(5):
            store.add(MAIN, f"{number}")
        assert store.load(MAIN) == ["2", "3", "4"]
        store.add("room:b", "12345")
        assert store.load(MAIN) == ["2", "3", "4"]
        store.add("room:c", "1234")
        assert (store.load(MAIN), store.load("room:b")) == ([], ["12345"])
        store.add("room:c", "5678")
        assert (store.load("room:b"), store.load("room:c")) == ([], ["1234", "5678"])


def test_a_very_long_text_is_not_kept() -> None:
    store = HistoryStore(default_workspace())
    store.add(MAIN, "x" * (MAX_ENTRY_CHARS + 1))
    assert store.load(MAIN) == []


def test_entries_of_another_shape_are_left_out() -> None:
    path = history_file(default_workspace())
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({MAIN: ["ok", 7], "room:b": "text"}))
    store = HistoryStore(default_workspace())
    assert (store.load(MAIN), store.load("room:b")) == (["ok", "7"], [])
    assert store.problem is None


def test_a_text_that_was_removed_for_good_is_forgotten_in_all_rooms_and_on_disk() -> None:
    store = HistoryStore(default_workspace())
    for room in (MAIN, "room:other"):
        store.add(room, "the key is under the mat")
        store.add(room, "again: the key is under the mat, ok?")
        store.add(room, "something else")
    store.forget("the key is under the mat")
    assert (store.load(MAIN), store.load("room:other")) == (["something else"],) * 2
    assert "under the mat" not in history_file(default_workspace()).read_text("utf-8")
