"""The side conversation over the server: followed over every break, asked once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.assistant import AssistantFrame
from groupx_shared.wire.sse import HEARTBEAT, encode_transient
from groupx_tui.client.http import ServerClient
from groupx_tui.client.side import SideTalk
from support.fake_server import Answer, FakeServer, refuse
from support.fake_side import asked
from support.loopback_http import HttpRequest, Responder

EVENTS = "/api/assistant/events"


def streaming(*pieces: bytes, breaks: bool = False) -> Answer:
    """An answer that streams these pieces, and ends or breaks off."""

    async def answer(request: HttpRequest, respond: Responder) -> None:
        await respond.begin("text/event-stream")
        for piece in pieces:
            await respond.chunk(piece)
        if not breaks:
            await respond.end()

    return answer


def replying(status: int, body: bytes) -> Answer:
    """An answer that is there at once."""

    async def answer(request: HttpRequest, respond: Responder) -> None:
        await respond.whole(status, body)

    return answer


def frame(text: str) -> bytes:
    told = AssistantFrame(type="delta", request_id="side_1", offset=0, text=text)
    return encode_transient(told.to_wire())


class Talk(SideTalk):
    """The talk under test, that never really waits."""

    def __init__(self, client: ServerClient) -> None:
        self.pauses: list[float] = []
        super().__init__(client, self._sleep_never)

    async def _sleep_never(self, pause: float) -> None:
        self.pauses.append(pause)


async def texts(talk: SideTalk, count: int, lost: list[str] | None = None) -> list[Any]:
    """The texts of the first frames."""
    found: list[Any] = []
    on_lost = (lambda _: None) if lost is None else lost.append
    async with asyncio.timeout(5), aclosing(talk.follow(on_lost)) as batches:
        async for batch in batches:
            found += [each.text for each in batch]
            if len(found) >= count:
                return found
    raise AssertionError("unreachable")


async def test_frames_come_whatever_the_pieces_are(
    server: FakeServer, client: ServerClient
) -> None:
    whole = frame("one") + HEARTBEAT + frame("two")
    server.fail_next(EVENTS, streaming(*(whole[i : i + 7] for i in range(0, len(whole), 7))))
    assert await texts(Talk(client), 2) == ["one", "two"]


@pytest.mark.parametrize("breaks", [False, True])
async def test_after_a_break_it_connects_again_and_says_so(
    server: FakeServer, client: ServerClient, breaks: bool
) -> None:
    server.fail_next(EVENTS, streaming(frame("one"), breaks=breaks))
    server.fail_next(EVENTS, streaming(frame("two")))
    talk, lost = Talk(client), list[str]()
    assert await texts(talk, 2, lost) == ["one", "two"]
    assert len(lost) == len(talk.pauses) == 1


async def test_a_refusal_ends_it(server: FakeServer, client: ServerClient) -> None:
    server.fail_next(EVENTS, refuse(403, "FORBIDDEN_SCOPE", "Not with this token."))
    with pytest.raises(RefusedError) as refused:
        await texts(Talk(client), 1)
    assert refused.value.code is ErrorCode.FORBIDDEN_SCOPE


async def test_a_frame_of_a_later_version_is_left_out(
    server: FakeServer, client: ServerClient
) -> None:
    strange = encode_transient(b'{"type":"dream"}') + encode_transient(b"not json")
    server.fail_next(EVENTS, streaming(strange + frame("known")))
    assert await texts(Talk(client), 1) == ["known"]


async def test_a_request_carries_its_room_and_an_id_of_its_own(
    server: FakeServer, client: ServerClient
) -> None:
    reply = b'{"request":' + asked("side_1", "hi").to_wire() + b',"position":2}'
    server.fail_next("/api/assistant/messages", replying(202, reply))
    assert (await Talk(client).ask("hi", "room:dev")).position == 2
    body = server.asked_json("/api/assistant/messages")
    assert (body["content"], body["roomId"]) == ("hi", "room:dev")
    assert body["clientCommandId"].startswith("cmd_")


async def test_pages_cancelling_and_clearing_ask_what_they_mean(
    server: FakeServer, client: ServerClient
) -> None:
    talk = Talk(client)
    server.fail_next("/api/assistant/messages", replying(200, b'{"messages":[]}'))
    await talk.older("side_9")
    assert server.asked[-1].query == {"before": "side_9", "limit": "50"}
    server.fail_next("/api/assistant/cancel", replying(202, b'{"accepted":true}'))
    assert (await talk.cancel("side_1")).accepted
    assert server.asked_json("/api/assistant/cancel")["requestId"] == "side_1"
    server.fail_next("/api/assistant/clear", replying(200, b'{"removed":3}'))
    assert (await talk.clear()).removed == 3
    server.fail_next(
        "/api/assistant", replying(200, b'{"enabled":false,"name":"x","status":"disabled"}')
    )
    assert not (await talk.status()).enabled
