"""Paging and jumping: one page at a time, and none for a window that has moved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from groupx_shared.wire.events import Event
from groupx_tui.client import windows
from groupx_tui.client.http import ServerClient
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.client.windows import Windows, block_at, block_of_event
from groupx_tui.state.model import ClientView, TimelineView
from groupx_tui.state.reduce import apply_bootstrap, apply_event
from support.fake_server import FakeServer
from support.loopback_http import HttpRequest, Responder


@pytest.fixture(autouse=True)
def small_pages() -> Iterator[None]:
    with patch.object(windows, "PAGE_EVENTS", 4), patch.object(windows, "JUMP_EVENTS", 4):
        yield


@pytest.fixture
def store(server: FakeServer) -> ViewStore:
    for number in range(20):
        server.script.say(f"message {number + 1}")
    return ViewStore(apply_bootstrap(ClientView(), server.script.bootstrap(limit=4)))


@pytest.fixture
def moving(store: ViewStore, client: ServerClient) -> Windows:
    return Windows(store, client)


def seqs(store: ViewStore) -> list[int | None]:
    return [block.order_seq for block in store.view.timeline.blocks]


async def test_reading_back_page_by_page_reaches_the_first_message(
    store: ViewStore, moving: Windows
) -> None:
    pages = 0
    while await moving.load_before():
        pages += 1
    assert (pages, seqs(store)) == (4, list(range(1, 21)))
    assert store.view.timeline.reader_side == "start"


async def test_a_jump_shows_the_place_and_reading_on_reaches_the_end(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    block_id = await moving.jump(9)
    assert block_id == f"msg:{server.script.durable[8].event_id}"
    assert store.view.timeline.has_more_after
    await moving.catch_up()
    assert seqs(store)[-1] == 20
    assert not await moving.load_after()


async def test_first_and_last_are_places_too(store: ViewStore, moving: Windows) -> None:
    await moving.jump("first")
    assert seqs(store) == [1, 2, 3, 4]
    assert (await moving.jump("last") or "").endswith("_20")
    assert (seqs(store), store.view.timeline.has_more_after) == ([17, 18, 19, 20], False)


async def test_a_jump_within_what_is_loaded_asks_for_nothing(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    assert (await moving.jump(18) or "").endswith("_18")
    assert (await moving.jump("last") or "").endswith("_20")
    assert server.asked == []
    assert len(seqs(store)) == 4


async def test_two_calls_at_once_load_one_page(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(moving.load_before()) for _ in range(3)]
    assert sorted(call.result() for call in calls) == [False, False, True]
    assert len(server.asked) == 1
    assert len(seqs(store)) == 8


async def test_a_page_for_a_window_that_moved_is_thrown_away(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    async def jump_first(request: HttpRequest, respond: Responder) -> None:
        await moving.jump("first")
        await server._answer(request, respond)

    server.fail_next("/api/rooms", jump_first)
    assert not await moving.load_before()
    assert seqs(store) == [1, 2, 3, 4]


async def test_the_later_of_two_jumps_wins(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    async def jump_first(request: HttpRequest, respond: Responder) -> None:
        await moving.jump("first")
        await server._answer(request, respond)

    server.fail_next("/api/rooms", jump_first)
    assert await moving.jump(10) is None
    assert seqs(store) == [1, 2, 3, 4]


async def test_nothing_is_dropped_at_the_start_while_its_page_is_on_its_way(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    async def speak_first(request: HttpRequest, respond: Responder) -> None:
        with (
            patch("groupx_tui.state.window.MAX_BLOCKS", 4),
            patch("groupx_tui.state.window.KEEP_BLOCKS", 4),
        ):
            store.set(apply_event(store.view, server.script.say("new")))
        await server._answer(request, respond)

    server.fail_next("/api/rooms", speak_first)
    assert await moving.load_before()
    assert seqs(store) == [13, 14, 15, 16, 17, 18, 19, 20]
    assert store.view.timeline.has_more_after


def test_an_empty_room_has_no_block_to_show() -> None:
    assert block_at(TimelineView("room:main"), 3) is None
    assert block_of_event(TimelineView("room:main"), "evt") is None


def test_an_answer_is_found_in_its_turn(server: FakeServer) -> None:
    server.script.whole_turn("t", "codex")
    store = ViewStore(apply_bootstrap(ClientView(), server.script.bootstrap()))
    answer = server.script.durable[3]
    assert block_of_event(store.view.timeline, answer.event_id) == "turn:t"
    assert block_at(store.view.timeline, answer.seq or 0) == "turn:t"
    assert block_at(store.view.timeline, 99) == "turn:t"


async def test_all_that_is_loaded_is_read_anew_and_only_what_differs_has_changed(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    await moving.jump(9)
    loaded = seqs(store)
    server.script.durable[8] = server.script.durable[8].model_copy(
        update={"body": {"content": "[removed]"}}
    )
    changes: list[frozenset[str]] = []
    store.on_change = lambda view: changes.append(view.timeline.changed)
    assert await moving.reread()
    assert seqs(store) == loaded
    assert changes == [frozenset({f"msg:{server.script.durable[8].event_id}"})]
    assert store.view.timeline.has_more_after
    await moving.catch_up()
    assert seqs(store)[-1] == 20


async def test_a_window_that_moved_meanwhile_is_read_from_the_start(
    store: ViewStore, moving: Windows, server: FakeServer
) -> None:
    tries: list[int] = []

    async def moved_each_time(timeline: TimelineView) -> list[Event]:
        tries.append(moving.moved())
        return []

    with patch.object(moving, "_loaded_events", moved_each_time):
        before = store.view
        assert not await moving.reread()
    assert len(tries) == windows.MAX_REREADS
    assert store.view is before
