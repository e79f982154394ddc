"""The wiring: paths and methods that are not there are refused in the usual form."""

from __future__ import annotations

import pytest

from support.http_app import http_app


async def test_an_unknown_path_is_answered_with_the_nearest_one() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/agent")
        assert response.status_code == 404
        error = response.json()["error"]
        assert error["code"] == "UNKNOWN_PATH"
        assert "/api/agents" in error["message"]


@pytest.mark.parametrize("path", ["/", "/api", "/api/rooms/", "/api//rooms", "/docs", "/mcp"])
async def test_nothing_is_served_beside_the_table_and_nothing_redirects(path: str) -> None:
    async with http_app() as served:
        response = await served.client.get(path)
        assert response.status_code == 404


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/rooms", "GET, POST"),
        ("/api/rooms/room:main", "PATCH"),
        ("/api/messages", "POST"),
        ("/api/health", "GET"),
        ("/api/events", "GET"),
    ],
)
async def test_a_wrong_method_is_told_all_the_right_ones(path: str, allowed: str) -> None:
    async with http_app() as served:
        response = await served.client.delete(path)
        assert response.status_code == 405
        assert response.headers["allow"] == allowed


async def test_control_characters_in_a_path_come_back_as_pictures() -> None:
    async with http_app() as served:
        response = await served.client.get("/api/%1b[31mred")
        assert "\x1b" not in response.json()["error"]["message"]
