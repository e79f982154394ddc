"""The feed: a follower gets the state and then what is newer, whatever its pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.assistant import feed as feeds
from groupx_server.assistant.feed import KEPT_CHANGES, PIECE_CHARS, Feed, LiveReply
from groupx_shared.wire.assistant import AssistantFrame, AssistantReply, SideMessage
from groupx_shared.wire.sse import HEARTBEAT, SseParser

STATUS = AssistantReply(enabled=True, name="Helper", status="ready")


def new_feed() -> Feed:
    return Feed(lambda: STATUS)


def message(number: int, **more: object) -> SideMessage:
    return SideMessage(
        message_id=f"side_{number}", role="user", content="x", created_at="2026", **more
    )


async def some(frames: AsyncIterator[bytes], count: int) -> list[AssistantFrame]:
    """The next frames."""
    parser, found = SseParser(), list[AssistantFrame]()
    async with asyncio.timeout(5):
        while len(found) < count:
            fed = parser.feed(await anext(frames))
            found += [AssistantFrame.model_validate_json(frame.data) for frame in fed]
    return found


async def test_a_follower_begins_with_the_status_and_what_it_is_given() -> None:
    feed = new_feed()
    frames = feed.follow(feed.place(), [message(1)])
    first, second = await some(frames, 2)
    assert (first.type, first.assistant) == ("status", STATUS)
    assert second.message == message(1)


async def test_what_happened_between_reading_and_following_is_not_missed() -> None:
    feed = new_feed()
    place = feed.place()
    feed.changed(message(2))
    found = await some(feed.follow(place, [message(1)]), 4)
    assert [frame.message.message_id for frame in found if frame.message] == ["side_1", "side_2"]


@given(st.lists(st.text(max_size=9), max_size=20), st.integers(1, 5))
def test_pieces_joined_by_offset_are_the_answer_at_any_pace(texts: list[str], pace: int) -> None:
    async def run() -> str:
        feed = new_feed()
        feed.live = LiveReply("side_1")
        frames = feed.follow(feed.place(), [message(1)], "side_1")
        parser, got = SseParser(), ""
        parser.feed(await anext(frames))
        for number, text in enumerate(texts):
            feed.piece(text)
            if text and number % pace == 0:
                for frame in parser.feed(await anext(frames)):
                    told = AssistantFrame.model_validate_json(frame.data)
                    assert told.offset == len(got)
                    got += told.text or ""
        if got != "".join(texts):
            for frame in parser.feed(await anext(frames)):
                told = AssistantFrame.model_validate_json(frame.data)
                assert told.offset == len(got)
                got += told.text or ""
        return got

    texts = [text.replace("\r", "").replace("\ud800", "") for text in texts]
    assert asyncio.run(run()) == "".join(texts)


async def test_a_late_follower_gets_a_long_answer_in_several_frames() -> None:
    feed = new_feed()
    feed.live = LiveReply("side_1", ["x" * (2 * PIECE_CHARS + 1)])
    frames = feed.follow(feed.place(), [message(1)], "side_1")
    found = (await some(frames, 4))[1:]
    assert [(frame.offset, len(frame.text or "")) for frame in found] == [
        (0, PIECE_CHARS),
        (PIECE_CHARS, PIECE_CHARS),
        (2 * PIECE_CHARS, 1),
    ]


async def test_the_stream_of_one_request_ends_with_it_and_tells_of_no_other() -> None:
    feed = new_feed()
    frames = feed.follow(feed.place(), [message(1, status="running")], "side_1")
    feed.changed(message(2, status="completed"))
    feed.changed(message(1, status="completed"))
    told = [piece async for piece in frames]
    assert len(told) == 2
    assert b"side_2" not in b"".join(told)


async def test_who_is_too_far_behind_is_let_go_to_come_again() -> None:
    feed = new_feed()
    frames = feed.follow(feed.place(), [])
    await some(frames, 1)
    for number in range(KEPT_CHANGES + 1):
        feed.changed(message(number))
    assert [piece async for piece in frames] == []


async def test_a_quiet_stream_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "HEARTBEAT_S", 0.0)
    frames = new_feed().follow(0, [])
    await some(frames, 1)
    assert await anext(frames) == HEARTBEAT


async def test_closing_ends_all_streams() -> None:
    feed = new_feed()
    frames = feed.follow(feed.place(), [])
    await some(frames, 1)
    feed.close()
    assert [piece async for piece in frames] == []
