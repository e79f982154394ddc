"""The endpoints of the room assistant: shapes, the stream, and that it is the person's own."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_shared.wire.sse import SseParser
from support.http_app import READER_TOKEN, http_app

READS = {"authorization": f"Bearer {READER_TOKEN}"}


def body(content: str = "hello", **more: Any) -> dict[str, Any]:
    return {"clientCommandId": "c1", "content": content, **more}


async def test_a_request_is_accepted_and_stands_in_the_conversation() -> None:
    async with http_app() as served:
        reply = await served.client.post("/api/assistant/messages", json=body())
        assert reply.status_code == 202
        assert reply.json()["request"]["content"] == "hello"
        listed = (await served.client.get("/api/assistant/messages")).json()["messages"]
        assert [message["role"] for message in listed] == ["user", "assistant"]


async def test_the_stream_of_one_request_ends_with_its_answer() -> None:
    async with http_app() as served:
        reply = await served.client.post("/api/assistant/messages", json=body())
        request_id = reply.json()["request"]["messageId"]
        stream = await served.client.get("/api/assistant/events", params={"requestId": request_id})
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        frames = SseParser().feed(stream.content)
        assert ["hello" in frame.data for frame in frames] == [True, True]


@pytest.mark.parametrize(
    "path", ["/api/assistant", "/api/assistant/messages", "/api/assistant/events"]
)
async def test_a_token_that_may_only_read_gets_nothing_of_it(path: str) -> None:
    async with http_app() as served:
        refused = await served.client.get(path, headers=READS)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "FORBIDDEN_SCOPE"


async def test_without_an_assistant_a_request_is_refused() -> None:
    async with http_app() as served:
        served.assistant.is_enabled = False
        refused = await served.client.post("/api/assistant/messages", json=body())
        assert refused.status_code == 409
        assert refused.json()["error"]["code"] == "AGENT_DISABLED"


async def test_who_asks_cannot_be_claimed_and_an_unknown_key_is_refused() -> None:
    async with http_app() as served:
        for more in ({"actor": "user:assistant"}, {"roomid": "room:main"}):
            refused = await served.client.post("/api/assistant/messages", json=body(**more))
            assert refused.status_code == 400


async def test_cancelling_and_clearing_answer_with_what_was_done() -> None:
    async with http_app() as served:
        await served.client.post("/api/assistant/messages", json=body())
        command = {"clientCommandId": "c2"}
        cancelled = await served.client.post("/api/assistant/cancel", json=command)
        assert (cancelled.status_code, cancelled.json()) == (202, {"accepted": False})
        cleared = await served.client.post("/api/assistant/clear", json=command)
        assert cleared.json() == {"removed": 2}
        unknown = {"clientCommandId": "c3", "requestId": "side_none"}
        refused = await served.client.post("/api/assistant/cancel", json=unknown)
        assert refused.json()["error"]["code"] == "UNKNOWN_EVENT"
