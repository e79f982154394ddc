"""`GET /api/events`: from any seq on, without a gap and without a double."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from groupx_server.rooms.broadcast import HubLimits
from groupx_shared.wire.sse import HEARTBEAT
from support.asgi_bridge import SseReader
from support.fake_rooms import make_event
from support.http_app import http_app, settle

FROM_START = "/api/events?afterSeq=0"


def live(text: str) -> bytes:
    return make_event(None, "room:main", "turn.content.delta", {"text": text})


async def ids(reader: SseReader, count: int) -> list[int]:
    return [int(frame.event_id or -1) for frame in await reader.take(count)]


async def test_a_stream_says_what_it_is_and_starts_with_retry() -> None:
    async with http_app() as served:
        served.ledger.commit(3)
        async with served.client.stream("GET", "/api/events?afterSeq=2") as response:
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert response.headers["cache-control"] == "no-store"
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"retry: 1000\nid: 2\n\n"
            assert (await anext(pieces)).startswith(b"id: 3\ndata: {")


async def test_durable_events_have_their_seq_as_id_and_live_ones_have_none() -> None:
    async with http_app() as served:
        served.ledger.commit(2)
        async with served.follow(FROM_START) as reader:
            assert await ids(reader, 2) == [1, 2]
            await settle(lambda: served.hub.subscriber_count == 1)
            served.hub.publish_transient(live("a"), "room:main")
            frame = await reader.next()
            assert ('"text":"a"' in frame.data, frame.event_id) == (True, "2")


async def test_without_a_start_only_what_comes_is_sent() -> None:
    async with http_app() as served:
        served.ledger.commit(5)
        async with served.follow() as reader:
            served.ledger.commit()
            assert await ids(reader, 1) == [6]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/events?afterSeq=2", {}),
        ("/api/events", {"last-event-id": "2"}),
        ("/api/events?afterSeq=2", {"last-event-id": "2"}),
    ],
)
async def test_both_ways_to_say_where_to_start_are_equal(
    path: str, headers: dict[str, str]
) -> None:
    async with http_app() as served:
        served.ledger.commit(4)
        async with served.follow(path, headers=headers) as reader:
            assert await ids(reader, 2) == [3, 4]


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/api/events?afterSeq=1", {"last-event-id": "2"}, 400, "INVALID_ENVELOPE"),
        ("/api/events", {"last-event-id": "evt_1"}, 400, "INVALID_ENVELOPE"),
        ("/api/events", {"last-event-id": "-1"}, 400, "INVALID_ENVELOPE"),
        ("/api/events", {"last-event-id": "9" * 30}, 400, "INVALID_ENVELOPE"),
        ("/api/events?afterSeq=x", {}, 400, "INVALID_ENVELOPE"),
        ("/api/events?since=1", {}, 400, "INVALID_ENVELOPE"),
        ("/api/events?afterSeq=5", {}, 409, "STORE_CONFLICT"),
        ("/api/events", {"last-event-id": "5"}, 409, "STORE_CONFLICT"),
        ("/api/events?roomId=room:nope", {}, 404, "UNKNOWN_ROOM"),
    ],
)
async def test_a_start_that_cannot_be_meant_is_refused(
    path: str, headers: dict[str, str], status: int, code: str
) -> None:
    async with http_app() as served:
        served.ledger.commit(4)
        response = await served.client.get(path, headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)


async def test_a_cursor_of_another_database_is_told_the_newest_seq() -> None:
    async with http_app() as served:
        served.ledger.commit(4)
        error = (await served.client.get("/api/events?afterSeq=90")).json()["error"]
        assert error["details"] == {"afterSeq": 90, "throughSeq": 4}
        assert "another database" in error["message"]


async def test_a_client_that_comes_back_misses_nothing_and_gets_nothing_twice() -> None:
    async with http_app() as served:
        served.ledger.commit(10)
        async with served.follow(FROM_START) as reader:
            seen = await ids(reader, 4)
        served.ledger.commit(10)
        last = {"last-event-id": str(seen[-1])}
        async with served.follow(headers=last) as reader:
            seen += await ids(reader, 16)
        assert seen == list(range(1, 21))


async def test_a_room_filter_leaves_the_other_rooms_out() -> None:
    async with http_app() as served:
        served.rooms.room_ids["room:b"] = "B"
        for _ in range(3):
            served.ledger.commit(1, "room:main")
            served.ledger.commit(1, "room:b")
        async with served.follow("/api/events?afterSeq=0&roomId=room:b") as reader:
            assert await ids(reader, 3) == [2, 4, 6]
            served.hub.publish_transient(live("for main"), "room:main")
            served.ledger.commit(1, "room:b")
            assert await ids(reader, 1) == [7]


async def test_a_client_that_leaves_is_forgotten() -> None:
    async with http_app() as served:
        async with served.follow(FROM_START):
            await settle(lambda: served.hub.subscriber_count == 1)
        await settle(lambda: served.hub.subscriber_count == 0)


async def test_silence_is_filled_with_a_heartbeat() -> None:
    limits = HubLimits(heartbeat_s=0.01)
    async with http_app(limits=limits) as served, served.follow() as reader:
        assert await reader.piece() == HEARTBEAT


async def test_a_stop_of_the_server_ends_the_stream_properly() -> None:
    async with http_app() as served, served.follow(FROM_START) as reader:
        await settle(lambda: served.hub.subscriber_count == 1)
        served.state.close()
        with pytest.raises(EOFError):
            await reader.piece()


async def test_a_slow_reader_gets_every_durable_event_and_loses_only_live_ones() -> None:
    limits = HubLimits(ring_events=8, ring_bytes=4_000, chunk_bytes=1_000, page_bytes=4_000)
    async with http_app(limits=limits) as served, served.follow(FROM_START) as slow:
        await settle(lambda: served.hub.subscriber_count == 1)
        for _ in range(60):
            served.ledger.commit(5)
            served.hub.publish_transient(live("tick"), "room:main")
            for _ in range(20):
                await asyncio.sleep(0)
        durable, live_count = list[int](), 0
        while not durable or durable[-1] < 300:
            frame = await slow.next()
            if '"durability":"transient"' in frame.data:
                live_count += 1
            else:
                durable.append(int(frame.event_id or 0))
        assert durable == list(range(1, 301))
        assert live_count < 60


@pytest.mark.slow
async def test_twenty_thousand_events_come_in_one_connection_while_new_ones_arrive() -> None:
    async with http_app() as served:
        served.ledger.commit(20_000)
        async with served.follow(FROM_START) as reader:
            seen: list[int] = []
            while not seen or seen[-1] < 20_500:
                seen += await ids(reader, 100)
                if served.ledger.last_seq < 20_500:
                    served.ledger.commit(5)
        assert seen == list(range(1, 20_501))


async def test_the_position_is_known_before_the_first_event() -> None:
    async with http_app() as served:
        served.ledger.commit(7)
        async with served.follow() as reader:
            assert reader.parser.last_event_id == "7"


async def test_two_readers_share_the_encoding_of_a_live_event() -> None:
    async with http_app() as served, served.follow() as first, served.follow() as second:
        await settle(lambda: served.hub.subscriber_count == 2)
        before = served.hub.frames_encoded
        served.ledger.commit(4)
        assert await ids(first, 4) == await ids(second, 4) == [1, 2, 3, 4]
        assert served.hub.frames_encoded - before == 4


async def test_an_unread_refusal_is_an_ordinary_reply() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/events?afterSeq=1")
        assert isinstance(response, httpx.Response)
        assert response.headers["content-type"] == "application/json"
