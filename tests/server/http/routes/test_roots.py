"""Letting stopped agents go on, over HTTP."""

from __future__ import annotations

from groupx_shared.wire.replies import RootContinued
from support.http_app import READER_TOKEN, http_app


async def test_a_stopped_root_goes_on() -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1"}
        response = await served.client.post("/api/roots/corr_1/continue", json=body)
        assert response.status_code == 202
        assert RootContinued.model_validate_json(response.content).continues == 1


async def test_an_unknown_root_is_not_there() -> None:
    async with http_app() as served:
        body = {"clientCommandId": "1"}
        response = await served.client.post("/api/roots/corr_9/continue", json=body)
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "UNKNOWN_EVENT"


async def test_a_reader_cannot_let_anything_go_on() -> None:
    async with http_app() as served:
        headers = {"authorization": f"Bearer {READER_TOKEN}"}
        body = {"clientCommandId": "1"}
        path = "/api/roots/corr_1/continue"
        response = await served.client.post(path, json=body, headers=headers)
        assert response.json()["error"]["code"] == "FORBIDDEN_SCOPE"
