"""Turns over HTTP."""

from __future__ import annotations

import pytest

from groupx_shared.wire.replies import AdviceReply, CancelReply, MessageAccepted, TurnInfo, TurnList
from support.http_app import http_app


async def test_turns_are_listed_read_and_cancelled() -> None:
    async with http_app() as served:
        query = "?roomId=room:main&status=all&actorId=agent:guide&before=9&limit=5"
        listed = await served.client.get("/api/turns" + query)
        (turn,) = TurnList.model_validate_json(listed.content).turns
        one = await served.client.get(f"/api/turns/{turn.turn_id}")
        assert TurnInfo.model_validate_json(one.content) == turn
        cancel = await served.client.post(
            f"/api/turns/{turn.turn_id}/cancel", json={"clientCommandId": "1"}
        )
        assert cancel.status_code == 202
        assert CancelReply.model_validate_json(cancel.content).accepted


async def test_a_person_says_something_to_the_agent_of_a_turn() -> None:
    async with http_app() as served:
        (turn,) = TurnList.model_validate_json(
            (await served.client.get("/api/turns")).content
        ).turns
        said = await served.client.post(
            f"/api/turns/{turn.turn_id}/advise",
            json={"clientCommandId": "1", "content": "Not that."},
        )
        assert said.status_code == 202
        assert AdviceReply.model_validate_json(said.content).delivery == "taken"
        assert served.rooms.advice == [(turn.turn_id, "Not that.", "user:web")]


async def test_an_unknown_turn_is_not_there() -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1"}
        for response in (
            await served.client.get("/api/turns/turn_9"),
            await served.client.post("/api/turns/turn_9/cancel", json=body),
        ):
            assert response.status_code == 404
            assert response.json()["error"]["code"] == "UNKNOWN_TURN"


async def test_a_cancel_without_a_command_id_is_refused() -> None:
    async with http_app() as served:
        response = await served.client.post("/api/turns/turn_1/cancel", json={})
        assert response.status_code == 400
        assert response.json()["error"]["details"]["issues"][0]["path"] == "clientCommandId"


async def test_a_status_that_there_is_not_is_refused_with_those_there_are() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/turns?status=running")
        assert response.status_code == 400
        assert "'open', 'ended' or 'all'" in response.json()["error"]["message"]


@pytest.mark.parametrize("how", ["retry", "continue"])
async def test_a_turn_is_taken_up_again_as_a_new_message(how: str) -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1"}
        response = await served.client.post(f"/api/turns/turn_1/{how}", json=body)
        assert response.status_code == 202
        accepted = MessageAccepted.model_validate_json(response.content)
        assert accepted.message_event_id == f"evt_{how}"
        unknown = await served.client.post(f"/api/turns/turn_9/{how}", json=body)
        assert unknown.status_code == 404
