"""Sending: accepted means on disk, and the author follows from the token."""

from __future__ import annotations

import pytest

from groupx_server.http.auth import Credential
from groupx_server.ledger.accept import Source
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import MessageAccepted
from support.http_app import TOKEN, http_app

BODY = {"clientCommandId": "cmd_1", "content": "hello", "to": ["guide"]}


async def test_a_message_is_accepted_with_202() -> None:
    async with http_app() as served:
        response = await served.client.post("/api/messages", json=BODY)
        assert response.status_code == 202
        accepted = MessageAccepted.model_validate_json(response.content)
        assert (accepted.seq, accepted.turns[0].target) == (1, "guide")


async def test_the_author_is_the_tokens_and_never_the_bodys() -> None:
    async with http_app() as served:
        source = Source(actor_id="user:other", binding_id="binding:other")
        served.credentials.replace({TOKEN: Credential(source=source)})
        await served.client.post("/api/messages", json=BODY)
        forged = {**BODY, "from": {"actorId": "user:web"}}
        response = await served.client.post("/api/messages", json=forged)
        assert response.json()["error"]["code"] == "SENDER_FIELD_FORBIDDEN"
        assert [sent[1] for sent in served.rooms.sent] == [source]


async def test_ten_megabytes_are_refused_and_nothing_is_kept() -> None:
    async with http_app() as served:
        response = await served.client.post(
            "/api/messages", json={**BODY, "content": "x" * 10_000_000}
        )
        assert response.status_code == 413
        assert response.json()["error"]["code"] == "MESSAGE_TOO_LARGE"
        assert served.ledger.last_seq == 0


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.UNKNOWN_TARGET, 404),
        (ErrorCode.ROOM_ARCHIVED, 409),
        (ErrorCode.CLIENT_COMMAND_CONFLICT, 409),
        (ErrorCode.QUEUE_CAPACITY_REACHED, 429),
        (ErrorCode.ROOT_TURN_LIMIT_REACHED, 429),
        (ErrorCode.HOP_LIMIT_REACHED, 429),
        (ErrorCode.SESSION_NOT_AVAILABLE, 503),
    ],
)
async def test_no_refusal_of_the_rooms_is_a_500(code: ErrorCode, status: int) -> None:
    async with http_app() as served:
        served.rooms.fault = RefusedError("Why.", code=code)
        response = await served.client.post("/api/messages", json=BODY)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)


async def test_an_unknown_room_is_named_with_the_nearest_one() -> None:
    async with http_app() as served:
        response = await served.client.post("/api/messages", json={**BODY, "roomId": "room:mian"})
        assert response.status_code == 404
        assert "“main”" in response.json()["error"]["message"]
