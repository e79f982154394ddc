"""Each change is told once, with what it touched."""

from __future__ import annotations

from groupx_tui.client.viewstore import ViewStore
from groupx_tui.state.model import ClientView
from groupx_tui.state.reduce import apply_event, with_reader_side
from support.room_events import RoomScript


def test_each_change_is_told_once_with_its_own_blocks() -> None:
    script, told = RoomScript(), list[ClientView]()
    store = ViewStore(ClientView())
    store.on_change = told.append
    for text in ("one", "two"):
        store.set(apply_event(store.view, script.say(text)))
    store.set(apply_event(store.view, script.durable[0]))
    assert [sorted(view.timeline.changed) for view in told] == [
        [f"msg:{event.event_id}"] for event in script.durable
    ]
    assert store.view.timeline.changed == frozenset()
    assert store.view.timeline.blocks == told[-1].timeline.blocks


def test_what_draws_the_same_is_not_told() -> None:
    told: list[ClientView] = []
    store = ViewStore(ClientView())
    store.on_change = told.append
    store.set_quietly(with_reader_side(store.view, "start"))
    assert told == []
    assert store.view.timeline.reader_side == "start"
