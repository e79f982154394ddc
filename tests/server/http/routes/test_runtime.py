"""Health and shutdown."""

from __future__ import annotations

from groupx_shared.wire.replies import HealthReply, ShutdownReply
from support.http_app import SCOPE_KEY, http_app

PATH = "/api/runtime/shutdown"


async def test_health_says_who_answers() -> None:
    async with http_app() as served:
        health = HealthReply.model_validate_json((await served.client.get("/api/health")).content)
        assert (health.service, health.status) == ("groupx", "ok")
        assert health.runtime_scope_key == SCOPE_KEY


async def test_a_stop_of_this_workspace_is_answered_and_then_carried_out() -> None:
    async with http_app() as served:
        response = await served.client.post(PATH, json={"runtimeScopeKey": SCOPE_KEY})
        assert response.status_code == 202
        assert ShutdownReply.model_validate_json(response.content).accepted
        assert served.stops == ["stop"]


async def test_a_stop_of_another_workspace_does_nothing() -> None:
    async with http_app() as served:
        response = await served.client.post(PATH, json={"runtimeScopeKey": "c" * 64})
        assert (response.status_code, response.json()["error"]["code"]) == (409, "STORE_CONFLICT")
        short = await served.client.post(PATH, json={"runtimeScopeKey": "c"})
        assert short.status_code == 400
        assert served.stops == []
