"""What turns cost, over HTTP."""

from __future__ import annotations

import pytest

from groupx_shared.wire.replies import UsageReply
from support.http_app import http_app


@pytest.mark.parametrize(
    "query",
    ["", "roomId=room:main", "correlationId=corr_1", "roomId=room:main&actorId=agent:guide"],
)
async def test_usage_is_told_in_all_and_by_agent(query: str) -> None:
    async with http_app() as served:
        response = await served.client.get(f"/api/usage?{query}")
        found = UsageReply.model_validate_json(response.content)
        assert found.totals.total_tokens == 7
        assert [actor.actor_id for actor in found.actors] == ["agent:guide"]


async def test_a_room_must_be_there_and_a_name_must_not_be_empty() -> None:
    async with http_app() as served:
        assert (await served.client.get("/api/usage?actorId=")).status_code == 400
        unknown = await served.client.get("/api/usage?roomId=room:mian")
        assert unknown.json()["error"]["code"] == "UNKNOWN_ROOM"
