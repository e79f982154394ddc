"""Agents over HTTP."""

from __future__ import annotations

from groupx_shared.wire.replies import AgentList, RestartReply
from support.http_app import http_app


async def test_the_roster_is_listed_and_an_agent_restarted() -> None:
    async with http_app() as served:
        listed = await served.client.get("/api/agents")
        (agent,) = AgentList.model_validate_json(listed.content).agents
        restart = await served.client.post(
            f"/api/agents/{agent.actor_id}/restart", json={"clientCommandId": "1"}
        )
        assert restart.status_code == 202
        assert RestartReply.model_validate_json(restart.content).actor_id == "agent:guide"


async def test_an_unknown_agent_is_named_with_the_nearest_one() -> None:
    async with http_app() as served:
        response = await served.client.post(
            "/api/agents/giude/restart", json={"clientCommandId": "1"}
        )
        assert response.status_code == 404
        assert "“guide”" in response.json()["error"]["message"]
