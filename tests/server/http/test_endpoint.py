"""One path: its parameters are checked before any use case sees them."""

from __future__ import annotations

import pytest

from support.http_app import http_app


@pytest.mark.parametrize("path", ["/api/turns/" + "x" * 257, "/api/turns/a%00b"])
async def test_a_path_parameter_that_cannot_be_an_id_is_refused(path: str) -> None:
    async with http_app() as served:
        response = await served.client.get(path)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, "INVALID_ENVELOPE")
        assert error["details"]["issues"][0]["path"] == "turnId"


async def test_a_query_where_none_is_taken_is_refused() -> None:
    async with http_app() as served:
        response = await served.client.post("/api/messages?dry=1", json={})
        assert "dry" in response.json()["error"]["message"]


async def test_a_get_with_a_body_is_answered_as_one_without() -> None:
    async with http_app() as served:
        response = await served.client.request("GET", "/api/rooms", content=b"x" * 100)
        assert response.status_code == 200
