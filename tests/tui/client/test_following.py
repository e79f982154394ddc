"""The view keeps in step with the server through everything that happens to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from unittest.mock import patch

import pytest

from groupx_shared.wire.forgetting import PurgeInfo
from groupx_tui.client import following
from groupx_tui.client.following import Following
from groupx_tui.client.http import ServerClient
from groupx_tui.client.viewstore import ViewStore
from groupx_tui.client.windows import Windows
from groupx_tui.state.model import ClientView, TimelineView, TurnBlock
from support.fake_server import FakeServer, refuse, runtime_at
from support.room_events import MAIN, agent_info, event, turn_info
from support.server_place import Place

OTHER = "room:other"


class Watcher:
    """A view being kept, every state it had, and a way to wait for one."""

    def __init__(self, client: ServerClient, room_id: str = MAIN) -> None:
        self.seen: list[ClientView] = []
        self.pauses: list[float] = []
        self.on_pause: Callable[[], None] = lambda: None
        self._changed = asyncio.Event()
        self.store = ViewStore(ClientView(room_id=room_id, timeline=TimelineView(room_id)))
        self.store.on_change = self._on_change
        self.windows = Windows(self.store, client)
        self.following = Following(self.store, client, self.windows, self._sleep)

    def _on_change(self, view: ClientView) -> None:
        self.seen.append(view)
        self._changed.set()

    async def _sleep(self, pause: float) -> None:
        self.pauses.append(pause)
        self.on_pause()
        await asyncio.sleep(0)

    async def until(self, test: Callable[[ClientView], bool]) -> ClientView:
        """Wait until the view passes `test`."""
        async with asyncio.timeout(5):
            while not test(self.store.view):
                self._changed.clear()
                await self._changed.wait()
        return self.store.view


@asynccontextmanager
async def watching(client: ServerClient, room_id: str = MAIN) -> AsyncIterator[Watcher]:
    watcher = Watcher(client, room_id)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watcher.following.run())
        try:
            yield watcher
        finally:
            task.cancel()


def shows(count: int) -> Callable[[ClientView], bool]:
    return lambda view: len(view.timeline.blocks) == count


def is_live(view: ClientView) -> bool:
    return view.connection == "live"


async def test_bootstrap_then_stream(server: FakeServer, client: ServerClient) -> None:
    server.script.say("before")
    async with watching(client) as watcher:
        await watcher.until(is_live)
        await server.stream_is_open()
        server.push(server.script.say("after"))
        view = await watcher.until(shows(2))
    assert (view.cursor, [agent.name for agent in view.agents]) == (2, ["Codex", "Kimi"])
    assert server.paths() == ["GET /api/bootstrap", "GET /api/turns", "GET /api/events"]


async def test_events_of_one_write_are_one_change(server: FakeServer, client: ServerClient) -> None:
    async with watching(client) as watcher:
        await server.stream_is_open()
        await watcher.until(is_live)
        before = len(watcher.seen)
        server.push(*(server.script.say(str(number)) for number in range(50)))
        view = await watcher.until(shows(50))
    assert len(watcher.seen) == before + 1
    assert len(watcher.seen[-1].timeline.changed) == 50
    assert view.timeline.changed == frozenset()


async def test_a_long_replay_is_taken_in_by_parts(server: FakeServer, client: ServerClient) -> None:
    async with watching(client) as watcher:
        await server.stream_is_open()
        await watcher.until(is_live)
        before = len(watcher.seen)
        with patch.object(following, "MAX_EVENTS_AT_ONCE", 10):
            for _ in range(6):
                server.push(*(server.script.say("x") for _ in range(10)))
            await watcher.until(shows(60))
    assert len(watcher.seen) - before == 6


async def test_nothing_is_lost_or_doubled_when_the_stream_breaks(
    server: FakeServer, client: ServerClient
) -> None:
    async with watching(client) as watcher:
        for number in range(5):
            await server.stream_is_open(number + 1)
            server.push(server.script.say(f"live {number}"))
            await watcher.until(shows(2 * number + 1))
            server.drop_stream()
            server.script.say(f"missed {number}")
            await watcher.until(shows(2 * number + 2))
        await watcher.until(is_live)
    connections = [view.connection for view in watcher.seen]
    assert "reconnecting" in connections
    seqs = [block.order_seq for block in watcher.store.view.timeline.blocks]
    assert seqs == list(range(1, 11))
    detail = next(view.connection_detail for view in watcher.seen if view.connection_detail)
    assert detail.startswith("The server ended the stream. Next try in 0.")


async def test_text_that_was_lost_with_a_connection_is_asked_for(
    server: FakeServer, client: ServerClient
) -> None:
    script = server.script
    script.queue("t", "codex")
    script.start("t", "codex")
    server.open_turns = [turn_info("t", "codex")]
    async with watching(client) as watcher:
        await server.stream_is_open()
        server.push(script.delta("t", "codex", "one "))
        await watcher.until(lambda view: text_of(view) == "one ")
        script.delta("t", "codex", "two ")
        server.open_turns = [turn_info("t", "codex", partial_text="one two ")]
        server.drop_stream()
        await watcher.until(lambda view: text_of(view) == "one two ")
        server.push(script.delta("t", "codex", "three"))
        await watcher.until(lambda view: text_of(view) == "one two three")


async def test_cards_that_changed_while_the_connection_was_lost_are_asked_for(
    server: FakeServer, client: ServerClient
) -> None:
    server.agents = (agent_info("codex", active_turn_id="t"), agent_info("kimi"))
    async with watching(client) as watcher:
        await server.stream_is_open()
        await watcher.until(lambda view: view.agents[0].active_turn_id == "t")
        server.agents = (agent_info("codex"), agent_info("kimi", status="failed"))
        server.drop_stream()
        view = await watcher.until(lambda view: view.agents[0].active_turn_id is None)
        assert view.agents[1].status == "failed"


async def test_no_server_is_waited_for(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    place.runtime = None
    server.script.say("hi")
    async with watching(client) as watcher:
        view = await watcher.until(lambda view: view.connection == "offline")
        assert "No GroupX server runs for this workspace" in view.connection_detail
        place.runtime = server.runtime
        await watcher.until(is_live)
        assert len(watcher.store.view.timeline.blocks) == 1


async def test_a_wrong_token_is_shown_and_tried_again(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    place.runtime = runtime_at(server.url, "wrong")
    async with watching(client) as watcher:
        view = await watcher.until(lambda view: view.connection == "reconnecting")
        assert "does not accept this client's token" in view.connection_detail
        place.runtime = server.runtime
        await watcher.until(is_live)


async def test_another_database_is_loaded_anew(server: FakeServer, client: ServerClient) -> None:
    server.script.say("old")
    server.script.say("old too")
    async with watching(client) as watcher:
        await watcher.until(is_live)
        await server.stream_is_open()
        server.ledger_id = "ledger_2"
        server.script.durable.clear()
        server.script.next_seq = 1
        server.script.say("new")
        server.drop_stream()
        view = await watcher.until(lambda view: view.ledger_id == "ledger_2")
        assert (len(view.timeline.blocks), view.cursor) == (1, 1)
        await watcher.until(is_live)


async def test_a_room_that_does_not_exist_gives_way_to_the_main_one(
    server: FakeServer, client: ServerClient
) -> None:
    server.fail_next("/api/bootstrap", refuse(404, "UNKNOWN_ROOM", "There is no room x."))
    server.script.say("hi")
    async with watching(client, "room:x") as watcher:
        view = await watcher.until(is_live)
    assert (view.room_id, len(view.timeline.blocks)) == (MAIN, 1)
    assert view.missing_room == "room:x"
    assert watcher.pauses == []


async def test_open_turns_of_all_rooms_are_known_from_the_start(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("hi", room=OTHER)
    server.open_turns = [turn_info("t", "codex", room_id=OTHER)]
    async with watching(client) as watcher:
        view = await watcher.until(is_live)
    assert [room.open_turns for room in view.rooms if room.room_id == OTHER] == [1]


async def test_stopping_is_clean_while_it_waits(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    place.runtime = None
    async with watching(client) as watcher:
        await watcher.until(lambda view: view.connection == "offline")


@pytest.mark.parametrize("count", [1, 3])
async def test_a_server_that_goes_away_for_good_is_asked_ever_less(
    server: FakeServer, place: Place, client: ServerClient, count: int
) -> None:
    async with watching(client) as watcher:
        await server.stream_is_open()
        place.runtime = runtime_at("http://127.0.0.1:9")
        server.drop_stream()
        await watcher.until(lambda view: len(watcher.pauses) > count)
    pairs = zip(watcher.pauses, watcher.pauses[1:], strict=False)
    assert all(later > earlier for earlier, later in pairs)


def text_of(view: ClientView) -> str:
    block = view.timeline.blocks[-1] if view.timeline.blocks else None
    return str(block.text) if isinstance(block, TurnBlock) else ""


async def test_after_a_removal_all_that_is_loaded_is_read_anew(
    server: FakeServer, client: ServerClient
) -> None:
    """Quotes, reasoning and results of tools are not named by the event."""
    said = server.script.say("the key is under the mat")
    quote = server.script.say("so the key is under the mat")
    async with watching(client) as watcher:
        await watcher.until(is_live)
        await server.stream_is_open()
        for index, text in ((0, "[removed]"), (1, "so [removed]")):
            server.script.durable[index] = server.script.durable[index].model_copy(
                update={"body": {"content": text}}
            )
        gone = {"kind": "event", "refId": said.event_id, "eventIds": [said.event_id],
                "quoteEventIds": [quote.event_id]}  # fmt: skip
        server.push(server.script.write("content.redacted", gone))
        view = await watcher.until(lambda view: "so [removed]" in str(view.timeline.blocks))
        assert "under the mat" not in str(view.timeline.blocks)


async def test_a_removal_that_could_not_be_read_anew_is_after_the_next_reconnect(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("so the key is under the mat")
    async with watching(client) as watcher:
        await watcher.until(is_live)
        await server.stream_is_open()
        server.script.durable[0] = server.script.durable[0].model_copy(
            update={"body": {"content": "so [removed]"}}
        )
        server.fail_next(f"/api/rooms/{MAIN}/events", refuse(500, "INTERNAL_ERROR", "Broken."))
        gone = {"kind": "event", "refId": "evt_none", "eventIds": []}
        server.push(server.script.write("content.redacted", gone))
        await watcher.until(lambda view: len(view.timeline.blocks) == 2)
        assert "so the key" in str(watcher.store.view.timeline.blocks)
        server.drop_stream()
        await watcher.until(lambda view: "so [removed]" in str(view.timeline.blocks))


async def test_how_a_purge_stands_is_asked_for_after_a_break(
    server: FakeServer, client: ServerClient
) -> None:
    started = "2026-01-01T00:00:00.000Z"
    info = PurgeInfo(kind="event", ref_id="evt_1", stage="index", started_at=started)
    async with watching(client) as watcher:
        await watcher.until(is_live)
        await server.stream_is_open()
        body = info.model_dump(mode="json", by_alias=True, exclude_none=True)
        server.push(event("content.purging", body))
        await watcher.until(lambda view: view.purge is not None)
        server.purges = [info.model_copy(update={"stage": "done", "ended_at": started})]
        server.drop_stream()
        await watcher.until(lambda view: view.purge is not None and not view.purge.is_running)
