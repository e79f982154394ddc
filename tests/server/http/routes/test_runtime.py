"""Health, reload and shutdown."""

from __future__ import annotations

from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.replies import HealthReply, ReloadReply, ShutdownReply
from support.http_app import READER_TOKEN, SCOPE_KEY, http_app

PATH = "/api/runtime/shutdown"
RELOAD = "/api/runtime/reload"


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


async def test_a_reload_tells_what_it_took_over() -> None:
    async with http_app() as served:
        response = await served.client.post(RELOAD, json={"clientCommandId": "r1"})
        assert response.status_code == 200
        reply = ReloadReply.model_validate_json(response.content)
        assert (reply.added, reply.restart_required) == (("agent:new",), ("server.port",))
        assert response.json()["restartRequired"] == ["server.port"]


async def test_a_reload_of_a_file_with_an_error_is_refused() -> None:
    async with http_app() as served:
        served.rooms.fault = RefusedError("agnets: no such key.", code=ErrorCode.CONFIG_INVALID)
        response = await served.client.post(RELOAD, json={"clientCommandId": "r1"})
        assert response.status_code == 409
        assert response.json()["error"] == {
            "code": "CONFIG_INVALID",
            "message": "agnets: no such key.",
        }


async def test_a_reload_needs_an_id_and_a_token_that_may_change_things() -> None:
    async with http_app() as served:
        assert (await served.client.post(RELOAD, json={})).status_code == 400
        unknown = await served.client.post(RELOAD, json={"clientCommandId": "r", "force": True})
        assert unknown.status_code == 400
        assert (await served.client.get(RELOAD)).status_code == 405
        reader = {"authorization": f"Bearer {READER_TOKEN}"}
        refused = await served.client.post(RELOAD, json={"clientCommandId": "r"}, headers=reader)
        assert refused.json()["error"]["code"] == "FORBIDDEN_SCOPE"
