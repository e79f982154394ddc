"""The stream: no gap and no duplicate over any number of broken connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from groupx_shared.wire.events import Event
from groupx_tui.client.backoff import Backoff
from groupx_tui.client.events import EventStream, LedgerChangedError, StreamState
from groupx_tui.client.http import ServerClient
from support.fake_server import FakeServer, frame_of, refuse, runtime_at, stay_silent
from support.server_place import Place


class Follower:
    """A stream being read, with what it gave and what it said."""

    def __init__(self, client: ServerClient, after_seq: int = 0, silence_s: float = 5.0) -> None:
        self.states: list[StreamState] = []
        self.pauses: list[float] = []
        self.stream = EventStream(
            client,
            after_seq=after_seq,
            ledger_id="ledger_1",
            on_state=self.states.append,
            sleep=self._sleep,
            backoff=Backoff(draw=lambda: 0.5),
            silence_s=silence_s,
        )
        self.batches = self.stream.batches()

    async def _sleep(self, pause: float) -> None:
        self.pauses.append(pause)

    async def seqs(self, count: int) -> list[int | None]:
        """Read until `count` events have come."""
        events: list[Event] = []
        async with asyncio.timeout(5):
            while len(events) < count:
                events += await anext(self.batches)
        return [event.seq for event in events]


@asynccontextmanager
async def following(
    client: ServerClient, after_seq: int = 0, silence_s: float = 5.0
) -> AsyncIterator[Follower]:
    follower = Follower(client, after_seq, silence_s)
    async with aclosing(follower.batches):
        yield follower


async def test_events_after_the_cursor_come_in_order(
    server: FakeServer, client: ServerClient
) -> None:
    for number in range(5):
        server.script.say(str(number))
    async with following(client, after_seq=2) as follower:
        assert await follower.seqs(3) == [3, 4, 5]
        assert follower.stream.cursor == 5
        assert [state.phase for state in follower.states] == ["live"]


async def test_a_dropped_connection_goes_on_where_it_was(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        assert await follower.seqs(1) == [1]
        server.drop_stream()
        server.script.say("while nobody listened")
        assert await follower.seqs(1) == [2]
        server.push(server.script.say("live"))
        assert await follower.seqs(1) == [3]
    assert [state.phase for state in follower.states] == [
        "live",
        "reconnecting",
        "connecting",
        "live",
    ]
    streams = [request for request in server.asked if request.path == "/api/events"]
    assert [request.query["afterSeq"] for request in streams] == ["0", "1"]


async def test_what_comes_twice_is_given_once(server: FakeServer, client: ServerClient) -> None:
    one, two, three = (server.script.say(str(number)) for number in range(3))
    async with following(client) as follower:
        await follower.seqs(3)
        server.push(two, one, three, server.script.say("new"))
        assert await follower.seqs(1) == [4]


async def test_transient_events_come_between(server: FakeServer, client: ServerClient) -> None:
    async with following(client) as follower:
        server.script.queue("t", "codex")
        assert await follower.seqs(1) == [1]
        server.push(server.script.delta("t", "codex", "x"), server.script.say("y"))
        assert await follower.seqs(2) == [None, 2]


async def test_events_of_one_write_are_one_batch(server: FakeServer, client: ServerClient) -> None:
    server.script.say("first")
    async with following(client) as follower:
        await follower.seqs(1)
        server.push(*(server.script.say(str(number)) for number in range(20)))
        async with asyncio.timeout(5):
            assert len(await anext(follower.batches)) == 20


async def test_a_silent_stream_is_left(server: FakeServer, client: ServerClient) -> None:
    server.script.say("one")
    async with following(client, silence_s=0.05) as follower:
        assert await follower.seqs(1) == [1]
        server.fail_next("/api/events", stay_silent)
        server.script.say("after two silences")
        assert await follower.seqs(1) == [2]
    reasons = [state.reason for state in follower.states if state.phase == "reconnecting"]
    assert len(reasons) == 2
    assert all("no answer in time" in reason for reason in reasons)


async def test_a_heartbeat_shows_that_the_server_lives(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)

        async def beat_and_drop(count: int) -> None:
            for number in range(count):
                await server.stream_is_open(number + 1)
                server.push_bytes(b": heartbeat\n\n")
                server.drop_stream()
            await server.stream_is_open(count + 1)
            server.push(server.script.say("two"))

        async with asyncio.TaskGroup() as group:
            group.create_task(beat_and_drop(3))
            assert await follower.seqs(1) == [2]
    assert follower.pauses == [0.25, 0.25, 0.25]


async def test_pauses_grow_while_nobody_answers_and_shrink_after_an_event(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)
        for _ in range(4):
            server.fail_next("/api/bootstrap", refuse(503, "SHUTTING_DOWN", "It is closing."))
        server.drop_stream()
        server.script.say("two")
        assert await follower.seqs(1) == [2]
        assert follower.pauses == [0.25, 0.5, 1, 2, 3]
        assert follower.states[3].reason == "It is closing."
        assert follower.states[3].next_try_s == 0.5
        server.drop_stream()
        server.script.say("three")
        assert await follower.seqs(1) == [3]
        assert follower.pauses[5:] == [0.25]


async def test_a_server_that_accepts_and_hangs_up_is_asked_less_and_less(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)
        async with asyncio.TaskGroup() as group:

            async def drop(count: int) -> None:
                for number in range(count):
                    await server.stream_is_open(number + 1)
                    server.drop_stream()
                await server.stream_is_open(count + 1)
                server.push(server.script.say("two"))

            group.create_task(drop(4))
            assert await follower.seqs(1) == [2]
    assert follower.pauses == [0.25, 0.5, 1, 2]


async def test_a_server_that_moved_is_found(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    server.script.say("one")
    async with FakeServer(server.script) as other, following(client) as follower:
        other.token = "new"
        await follower.seqs(1)
        place.runtime = other.runtime
        server.drop_stream()
        other.script.say("two")
        assert await follower.seqs(1) == [2]
        assert [request.path for request in other.asked] == ["/api/bootstrap", "/api/events"]


async def test_a_lost_server_is_waited_for(
    server: FakeServer, place: Place, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)
        place.runtime = runtime_at("http://127.0.0.1:9")
        tries: list[float] = []

        async def come_back(pause: float) -> None:
            tries.append(pause)
            if len(tries) == 3:
                place.runtime = server.runtime

        follower.stream._sleep = come_back
        server.drop_stream()
        server.script.say("two")
        assert await follower.seqs(1) == [2]
    assert len(tries) == 3
    assert "nothing listens there" in follower.states[-3].reason


@pytest.mark.parametrize("change", ["another-ledger", "an-older-state", "the-server-says-so"])
async def test_another_database_is_told(
    server: FakeServer, client: ServerClient, change: str
) -> None:
    server.script.say("one")
    server.script.say("two")
    async with following(client) as follower:
        await follower.seqs(2)
        if change == "another-ledger":
            server.ledger_id = "ledger_2"
        elif change == "an-older-state":
            server.script.next_seq = 2
        else:
            server.fail_next("/api/events", refuse(409, "STORE_CONFLICT", "No such place."))
        server.drop_stream()
        with pytest.raises(LedgerChangedError):
            await follower.seqs(1)


async def test_an_unreadable_transient_event_is_left_out(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)
        two = frame_of(server.script.say("two"))
        server.push_bytes(b'data: {"seq": null, "type": 7}\n\n' + two)
        assert await follower.seqs(1) == [2]


async def test_an_unreadable_durable_event_is_no_gap_but_a_broken_stream(
    server: FakeServer, client: ServerClient
) -> None:
    server.script.say("one")
    async with following(client) as follower:
        await follower.seqs(1)
        server.push_bytes(b'id: 2\ndata: {"seq": 2, "type": 7}\n\n')
        server.script.say("two")
        assert await follower.seqs(1) == [2]
    assert "cannot be read" in follower.states[1].reason
