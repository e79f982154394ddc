"""The fan-out: every durable event exactly once and in order, whatever the pace of the reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupx_server.rooms.broadcast import Hub, HubLimits, Subscription
from groupx_server.rooms.rows import DurableFrameSource
from groupx_shared.errors import ErrorCode, LedgerError
from groupx_shared.wire.sse import HEARTBEAT, SseParser, encode_durable
from support.asgi_bridge import WAIT_S
from support.fake_rooms import FakeLedger
from support.http_app import settle

SMALL = HubLimits(ring_events=4, ring_bytes=2_000, chunk_bytes=500, page_bytes=2_000)


@asynccontextmanager
async def running(ledger: FakeLedger, limits: HubLimits | None = None) -> AsyncIterator[Hub]:
    hub = Hub(ledger, ledger, limits)
    async with asyncio.TaskGroup() as group:
        group.create_task(hub.run())
        yield hub
        hub.close()


async def seqs_until(subscription: Subscription, last: int) -> list[int]:
    """Seqs of the durable frames up to `last`."""
    parser, found = SseParser(), list[int]()
    async with asyncio.timeout(WAIT_S):
        while not found or found[-1] < last:
            frames = parser.feed(await anext(subscription))
            found += [json.loads(frame.data)["seq"] for frame in frames]
    return found


async def test_events_come_once_and_in_order_from_any_seq_on() -> None:
    ledger = FakeLedger()
    ledger.commit(300)
    async with running(ledger) as hub:
        with hub.subscribe(120) as subscription:
            assert await seqs_until(subscription, 300) == list(range(121, 301))
            ledger.commit(2)
            assert await seqs_until(subscription, 302) == [301, 302]


async def test_one_commit_is_one_read_however_many_listen() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        subscriptions = [hub.subscribe(0) for _ in range(20)]
        before = ledger.reads
        ledger.commit(3)
        for subscription in subscriptions:
            assert await seqs_until(subscription, 3) == [1, 2, 3]
            subscription.close()
        assert ledger.reads - before == 1


async def test_each_event_is_encoded_once_for_all_readers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[int] = []

    def counting(seq: int, data: bytes) -> bytes:
        encoded.append(seq)
        return encode_durable(seq, data)

    monkeypatch.setattr("groupx_server.rooms.ring.encode_durable", counting)
    ledger = FakeLedger()
    async with running(ledger) as hub:
        subscriptions = [hub.subscribe(0) for _ in range(50)]
        for seq in range(1, 101):
            ledger.commit()
            for subscription in subscriptions:
                assert await seqs_until(subscription, seq) == [seq]
        assert encoded == list(range(1, 101))
        assert hub.frames_encoded == 100
        for subscription in subscriptions:
            subscription.close()


async def test_a_commit_costs_no_read_while_nobody_listens() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        ledger.commit(1000)
        await settle(lambda: hub._ring.newest_seq == 1000)
        assert ledger.reads == 0
        hub.publish_transient(b"{}", None)
        assert hub.frames_encoded == 0


async def test_what_was_committed_while_nobody_listened_is_read_from_the_ledger() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        ledger.commit(5)
        await settle(lambda: hub._ring.newest_seq == 5)
        with hub.subscribe(2) as subscription:
            assert await seqs_until(subscription, 5) == [3, 4, 5]


async def test_a_reader_of_a_quiet_room_gets_on_the_ring_all_the_same() -> None:
    ledger = FakeLedger()
    ledger.commit(500, room_id="room:loud")
    async with running(ledger) as hub:
        with hub.subscribe(0, "room:quiet") as subscription, hub.subscribe(500) as other:
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(until(subscription, "501"))
                await settle(lambda: subscription.is_on_ring)
                assert ledger.reads == 1
                ledger.commit(1, room_id="room:quiet")
                assert await waiting == ["501"]
            assert await seqs_until(other, 501) == [501]


class GatedLedger(FakeLedger):
    """Answers reads of one room only when the gate is open; their snapshot is older then."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        rows = await super().durable_after(after_seq, limit, room_id)
        if room_id is not None:
            await self.gate.wait()
        return rows


async def test_what_is_committed_during_a_readers_page_is_not_taken_for_read() -> None:
    ledger = GatedLedger()
    ledger.commit(3, room_id="room:a")
    async with running(ledger) as hub:
        with hub.subscribe(0, "room:a") as subscription:
            async with asyncio.TaskGroup() as group:
                following = group.create_task(until(subscription, "4"))
                await settle(lambda: ledger.reads == 1)
                ledger.commit(1, room_id="room:a")
                await settle(lambda: hub._ring.newest_seq == 4)
                ledger.gate.set()
            assert following.result() == ["1", "2", "3", "4"]


async def test_a_seq_that_no_event_has_does_not_hold_the_tail() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        with hub.subscribe(0):
            ledger.commit(3)
            hole = ledger.events.pop()
            await settle(lambda: hub._ring.newest_seq == 3)
            assert ledger.reads == 1
            assert hole.seq == 3


async def test_a_live_event_keeps_its_place_among_the_commits() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        with hub.subscribe(0) as subscription:
            ledger.commit()
            hub.publish_transient(b'{"seq":"live"}', None)
            assert hub._ring.newest_seq == 0, "the tail has not read the event yet"
            ledger.commit()
            assert await until(subscription, "2") == ["1", "live", "2"]


async def until(subscription: Subscription, last: str) -> list[str]:
    """The frames up to `last`, by their `seq` (live ones have a text there)."""
    parser, found = SseParser(), list[str]()
    async with asyncio.timeout(WAIT_S):
        while last not in found:
            frames = parser.feed(await anext(subscription))
            found += [str(json.loads(frame.data)["seq"]) for frame in frames]
    return found


async def test_live_events_wait_in_a_bounded_queue_while_the_ledger_cannot_be_read() -> None:
    ledger = FakeLedger()
    async with running(ledger, SMALL) as hub:
        with hub.subscribe(0) as subscription:
            ledger.read_error = LedgerError("the disk is gone")
            ledger.commit()
            for number in range(100):
                hub.publish_transient(b'{"seq":"live %d"}' % number, None, f"key {number}")
            assert len(hub._pending) == SMALL.ring_events // 2
            ledger.read_error = None
            assert await until(subscription, "live 99") == ["1", "live 98", "live 99"]


async def test_the_tail_goes_on_after_the_ledger_could_not_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("groupx_server.rooms.broadcast.RETRY_FIRST_S", 0.001)
    ledger = FakeLedger()
    async with running(ledger) as hub:
        with hub.subscribe(0) as subscription:
            ledger.read_error = LedgerError("the disk is busy")
            ledger.commit(3)
            await settle(lambda: ledger.reads > 0)
            ledger.read_error = None
            assert await seqs_until(subscription, 3) == [1, 2, 3]


async def test_a_closing_ledger_ends_the_tail_but_not_the_server() -> None:
    ledger = FakeLedger()
    async with running(ledger) as hub:
        with hub.subscribe(0):
            ledger.read_error = LedgerError("closed", code=ErrorCode.SHUTTING_DOWN)
            ledger.commit()
            await settle(lambda: ledger.reads == 1)


async def test_a_reader_that_cannot_read_the_ledger_is_told() -> None:
    ledger = FakeLedger()
    ledger.commit(10)
    async with running(ledger) as hub:
        with hub.subscribe(0) as subscription:
            ledger.read_error = LedgerError("damaged")
            with pytest.raises(LedgerError):
                await anext(subscription)


async def test_a_room_filter_reads_only_that_room_from_ring_and_ledger() -> None:
    ledger = FakeLedger()
    for number in range(200):
        ledger.commit(room_id="room:a" if number % 10 == 0 else "room:b")
    async with running(ledger) as hub:
        with hub.subscribe(0, "room:a") as subscription:
            assert await seqs_until(subscription, 191) == list(range(1, 200, 10))
            ledger.commit(3, room_id="room:b")
            ledger.commit(1, room_id="room:a")
            assert await seqs_until(subscription, 204) == [204]


async def test_a_slow_reader_loses_live_events_and_nothing_else() -> None:
    ledger = FakeLedger()
    async with running(ledger, SMALL) as hub:
        with hub.subscribe(0) as slow, hub.subscribe(0) as fast:
            got = list[str]()
            for seq in range(1, 41):
                ledger.commit()
                hub.publish_transient(b'{"seq":"live %d"}' % seq, None)
                got += await until(fast, f"live {seq}")
            assert got == [part for seq in range(1, 41) for part in (str(seq), f"live {seq}")]
            late = await until(slow, "40")
            assert [part for part in late if part.isdigit()] == [str(s) for s in range(1, 41)]
            hub.publish_transient(b'{"seq":"live 41"}', None)
            assert (await until(slow, "live 41"))[-1] == "live 41"
            assert len(late) < len(got)


async def test_a_slow_reader_comes_back_to_the_ring() -> None:
    ledger = FakeLedger()
    async with running(ledger, SMALL) as hub:
        with hub.subscribe(0) as subscription:
            ledger.commit(50)
            await settle(lambda: hub._ring.floor_seq > 0)
            assert await seqs_until(subscription, 50) == list(range(1, 51))
            ledger.commit()
            assert await seqs_until(subscription, 51) == [51]
            assert subscription.is_on_ring


async def test_pieces_stay_near_their_bound() -> None:
    ledger = FakeLedger()
    ledger.commit(200, content="x" * 300)
    async with running(ledger, SMALL) as hub:
        with hub.subscribe(0) as subscription:
            for _ in range(20):
                assert len(await anext(subscription)) < SMALL.chunk_bytes + 1_000


async def test_a_heartbeat_comes_only_into_silence() -> None:
    ledger = FakeLedger()
    async with running(ledger, HubLimits(heartbeat_s=0.01)) as hub:
        with hub.subscribe(0) as subscription:
            async with asyncio.timeout(WAIT_S):
                assert await anext(subscription) == HEARTBEAT
                ledger.commit()
                assert b'"seq":1' in await anext(subscription)
                assert await anext(subscription) == HEARTBEAT


async def test_a_reader_with_work_gets_no_heartbeat_besides() -> None:
    ledger = FakeLedger()
    ledger.commit(30)
    async with running(ledger, SMALL) as hub:
        with hub.subscribe(0) as subscription:
            await anext(subscription)
            subscription._is_silent = True
            assert HEARTBEAT not in await anext(subscription)
            assert not subscription._is_silent


async def test_closing_the_hub_ends_those_who_wait() -> None:
    ledger = FakeLedger()
    ended: list[str] = []

    async def follow(hub: Hub) -> None:
        with hub.subscribe(0) as subscription:
            async for _ in subscription:
                pass
        ended.append("ended")

    async with asyncio.timeout(WAIT_S), asyncio.TaskGroup() as group, running(ledger) as hub:
        group.create_task(follow(hub))
        await settle(lambda: hub.subscriber_count == 1)
    assert ended == ["ended"]
    assert hub.subscriber_count == 0


async def test_a_client_that_left_leaves_nothing_behind() -> None:
    ledger = FakeLedger()
    async with running(ledger, HubLimits(heartbeat_s=0.01)) as hub:
        with hub.subscribe(0) as subscription:
            async with asyncio.timeout(WAIT_S):
                await anext(subscription)
        assert hub.subscriber_count == 0
        assert subscription._heartbeat is not None
        assert subscription._heartbeat.cancelled()


@pytest.mark.slow
async def test_twenty_thousand_events_come_over_one_subscription_while_new_ones_arrive() -> None:
    ledger = FakeLedger()
    ledger.commit(20_000)
    async with running(ledger) as hub:
        with hub.subscribe(0) as subscription:
            parser, found = SseParser(), list[int]()
            async with asyncio.timeout(30):
                while not found or found[-1] < 21_000:
                    frames = parser.feed(await anext(subscription))
                    found += [int(frame.event_id or 0) for frame in frames]
                    if ledger.last_seq < 21_000:
                        ledger.commit(10)
            assert found == list(range(1, 21_001))


# Random schedules of commits, live events, clients of any pace that come and go.

ROOMS = ("room:a", "room:b")
room_index = st.integers(0, 1)
operations = st.one_of(
    st.tuples(st.just("commit"), room_index, st.integers(1, 30)),
    st.tuples(st.just("live"), room_index, st.integers(0, 2)),
    st.tuples(st.just("join"), st.sampled_from([None, *ROOMS]), st.integers(0, 100)),
    st.tuples(st.just("read"), st.integers(0, 9), st.integers(1, 4)),
    st.tuples(st.just("turns"), st.integers(1, 6), st.just(0)),
    st.tuples(st.just("leave"), st.integers(0, 9), st.just(0)),
)


@dataclass(slots=True)
class Client:
    """Reads one piece for each permit; keeps what it got in order."""

    start: int
    room_id: str | None
    permits: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    got: list[dict[str, int]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    async def run(self, hub: Hub) -> None:
        parser = SseParser()
        with hub.subscribe(self.start, self.room_id) as subscription:
            while True:
                await self.permits.acquire()
                try:
                    piece = await anext(subscription)
                except StopAsyncIteration:
                    return
                for frame in parser.feed(piece):
                    body = json.loads(frame.data)
                    self.got.append(body["live"] if "live" in body else {"seq": body["seq"]})

    def seqs(self) -> list[int]:
        return [item["seq"] for item in self.got if "seq" in item]

    def check(self, ledger: FakeLedger) -> None:
        events = ledger.events[self.start :]
        expected = [e.seq for e in events if self.room_id in (None, e.room_id)]
        assert self.seqs() == expected
        newest, last_number = self.start, 0
        for item in self.got:
            if "seq" in item:
                newest = item["seq"]
                continue
            assert item["number"] > last_number, "live events come once and in order"
            last_number = item["number"]
            owed = [s for s in expected if newest < s <= item["after"]]
            assert not owed, "a live event came before a durable one that was committed first"
            assert newest <= max(item["after"], self.start), "it came after a later one"


class Schedule:
    """Carries out operations on a hub and then lets every client read to the end."""

    def __init__(self, hub: Hub, ledger: FakeLedger, group: asyncio.TaskGroup) -> None:
        self.hub, self.ledger, self.group = hub, ledger, group
        self.clients: list[Client] = []
        self.left: list[Client] = []
        self.numbers = 0

    async def do(self, kind: str, first: int | str | None, second: int) -> None:
        if kind == "commit":
            assert isinstance(first, int)
            self.ledger.commit(second, ROOMS[first], n=1)
        elif kind == "live":
            assert isinstance(first, int)
            self.live(ROOMS[first], f"key {second}" if second else None)
        elif kind == "join":
            assert first is None or isinstance(first, str)
            self.join(first, self.ledger.last_seq * second // 100)
        elif kind == "turns":
            assert isinstance(first, int)
            for _ in range(first):
                await asyncio.sleep(0)
        elif self.clients:
            assert isinstance(first, int)
            client = self.clients[first % len(self.clients)]
            if kind == "read":
                for _ in range(second):
                    client.permits.release()
            else:
                self.leave(client)

    def live(self, room_id: str | None, merge_key: str | None) -> None:
        self.numbers += 1
        body = {"live": {"number": self.numbers, "after": self.ledger.last_seq}}
        self.hub.publish_transient(json.dumps(body).encode(), room_id, merge_key)

    def join(self, room_id: str | None, start: int) -> None:
        client = Client(start, room_id)
        client.task = self.group.create_task(client.run(self.hub))
        self.clients.append(client)

    def leave(self, client: Client) -> None:
        self.clients.remove(client)
        assert client.task is not None
        client.task.cancel()

    async def finish(self) -> None:
        """One last event in each room; when it came, all before it must have come."""
        for room_id in ROOMS:
            self.ledger.commit(1, room_id, n=1)
        last = self.ledger.last_seq
        for client in self.clients:
            for _ in range(10_000):
                client.permits.release()
            goal = last if client.room_id != ROOMS[0] else last - 1
            await settle(lambda c=client, g=goal: g in c.seqs())


@settings(max_examples=150, deadline=None)
@given(
    st.lists(operations, max_size=60),
    st.builds(
        HubLimits,
        ring_events=st.integers(1, 12),
        ring_bytes=st.integers(100, 4_000),
        chunk_bytes=st.integers(1, 1_500),
        page_bytes=st.integers(1, 4_000),
    ),
    st.integers(0, 4),
)
@pytest.mark.slow
def test_any_schedule_gives_every_durable_event_exactly_once_and_in_order(
    plan: list[tuple[str, int | str | None, int]], limits: HubLimits, delay: int
) -> None:
    async def run() -> None:
        ledger = FakeLedger()
        ledger.answer_delay = delay
        ledger.commit(20, n=1)
        async with running(ledger, limits) as hub, asyncio.TaskGroup() as group:
            schedule = Schedule(hub, ledger, group)
            for operation in plan:
                await schedule.do(*operation)
            await schedule.finish()
            hub.close()
        for client in schedule.clients:
            client.check(ledger)

    asyncio.run(run())
