"""Drafts survive a restart, are private, and never break the client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from groupx_shared.workspace import default_workspace
from groupx_tui.client import drafts
from groupx_tui.client.drafts import (
    MAX_DRAFT_CHARS,
    MAX_ROOMS,
    WRITE_EVERY_S,
    DraftStore,
    draft_file,
)


class Put:
    """Takes what is to be done later."""

    def __init__(self) -> None:
        self.off: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, delay_s: float, work: Callable[[], None]) -> None:
        self.off.append((delay_s, work))


def test_a_draft_is_there_after_a_restart() -> None:
    store = DraftStore(default_workspace())
    store.save("room:main", "half a thought 你好 👋")
    store.close()
    assert DraftStore(default_workspace()).load("room:main") == "half a thought 你好 👋"
    assert draft_file(default_workspace()).stat().st_mode & 0o077 == 0


def test_an_empty_draft_is_forgotten() -> None:
    store = DraftStore(default_workspace(), later=Put())
    store.save("room:main", "x")
    store.save("room:main", "")
    store.close()
    assert json.loads(draft_file(default_workspace()).read_text()) == {}


def test_what_was_typed_last_is_kept_though_nothing_more_is_typed() -> None:
    now, put = [0.0], Put()
    store = DraftStore(default_workspace(), monotonic=lambda: now[0], later=put)
    store.save("room:main", "a")
    now[0] = 0.5
    for text in ("ab", "abc", "abcd"):
        store.save("room:main", text)
    ((delay_s, work),) = put.off
    assert delay_s == WRITE_EVERY_S - 0.5
    work()
    assert json.loads(draft_file(default_workspace()).read_text()) == {"room:main": "abcd"}
    store.save("room:main", "")  # it was sent: nothing of it may come back
    put.off[1][1]()
    assert json.loads(draft_file(default_workspace()).read_text()) == {}


async def test_it_is_kept_on_the_loop_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "WRITE_EVERY_S", 0.01)
    store, is_written = DraftStore(default_workspace()), asyncio.Event()
    monkeypatch.setattr(store, "close", is_written.set)
    store.save("room:main", "a")
    store.save("room:main", "ab")
    await asyncio.wait_for(is_written.wait(), 5)


def test_typing_writes_at_most_now_and_then() -> None:
    now = [0.0]
    store = DraftStore(default_workspace(), monotonic=lambda: now[0], later=Put())
    store.save("room:main", "a")
    store.save("room:main", "ab")
    assert json.loads(draft_file(default_workspace()).read_text()) == {"room:main": "a"}
    now[0] += WRITE_EVERY_S
    store.save("room:main", "abc")
    assert json.loads(draft_file(default_workspace()).read_text()) == {"room:main": "abc"}


def test_a_damaged_file_is_set_aside_and_said() -> None:
    path = draft_file(default_workspace())
    path.parent.mkdir(parents=True)
    path.write_text("{half")
    store = DraftStore(default_workspace())
    assert store.load("room:main") == ""
    assert store.problem is not None
    assert path.with_suffix(".damaged.json").read_text() == "{half"


def test_a_folder_that_cannot_be_written_costs_nothing_else() -> None:
    path = draft_file(default_workspace())
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.write_text("in the way")
    store = DraftStore(default_workspace())
    store.save("room:main", "x")
    assert store.load("room:main") == "x"
    assert store.problem is not None


def test_drafts_are_bounded() -> None:
    store = DraftStore(default_workspace(), later=Put())
    for number in range(MAX_ROOMS + 5):
        store.save(f"room:{number}", "x")
    store.save("room:huge", "x" * (MAX_DRAFT_CHARS + 1))
    store.close()
    kept = json.loads(draft_file(default_workspace()).read_text())
    assert len(kept) == MAX_ROOMS
    assert "room:huge" not in kept
    assert "room:0" not in kept


def test_two_windows_do_not_undo_each_other() -> None:
    first, second = DraftStore(default_workspace()), DraftStore(default_workspace())
    first.save("room:a", "mine")
    second.save("room:b", "theirs")
    first.close()
    second.close()
    again = DraftStore(default_workspace())
    assert (again.load("room:a"), again.load("room:b")) == ("mine", "theirs")
