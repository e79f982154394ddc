"""The outermost layers: strangers stay out, errors become replies, nothing internal gets out."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from groupx_server.http.boundary import Boundary
from groupx_server.http.table import ROUTES
from groupx_shared.errors import ConfigError, ErrorCode, LedgerError, RefusedError
from support.asgi_bridge import bridge_client
from support.captured_logs import capture_logs
from support.http_app import READER_TOKEN, TOKEN, URL, HttpApp, http_app

PATHS = sorted({route.path for route in ROUTES})
GUARDED = [path for path in PATHS if path != "/api/health"]


def code_of(response: httpx.Response) -> str:
    code: str = response.json()["error"]["code"]
    return code


@pytest.mark.parametrize("path", PATHS)
async def test_a_rebound_name_and_a_foreign_page_are_refused_everywhere(path: str) -> None:
    async with http_app() as served:
        for headers in (
            {"host": "evil.example:40123"},
            {"host": "127.0.0.1.evil.example:40123"},
            {"origin": "https://evil.example"},
            {"origin": "null"},
        ):
            response = await served.client.get(path, headers=headers)
            assert (response.status_code, code_of(response)) == (403, "FORBIDDEN_ORIGIN")
            assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("path", [*GUARDED, "/", "/api/nowhere", "/api/health/"])
async def test_a_stranger_without_the_token_learns_nothing(path: str) -> None:
    async with http_app() as served:
        async with bridge_client(served.app, URL) as stranger:
            for headers in ({}, {"authorization": "Bearer guess"}, {"cookie": f"token={TOKEN}"}):
                response = await stranger.get(path, headers=headers)
                assert (response.status_code, code_of(response)) == (401, "UNAUTHORIZED")
                assert response.headers["www-authenticate"].startswith("Bearer")
                assert TOKEN not in response.text
        for path_with_token in (f"{path}?token={TOKEN}", f"{path}?access_token={TOKEN}"):
            async with bridge_client(served.app, URL) as stranger:
                assert (await stranger.get(path_with_token)).status_code == 401


async def test_health_needs_no_token_and_touches_no_use_case() -> None:
    async with http_app() as served:
        served.rooms.fault = AssertionError("health asked the rooms")
        async with bridge_client(served.app, URL) as stranger:
            response = await stranger.get("/api/health")
        assert response.status_code == 200
        assert response.json()["runtimeScopeKey"] == served.state.runtime_scope_key


async def test_a_readers_token_reads_and_changes_nothing() -> None:
    async with http_app() as served:
        async with bridge_client(served.app, URL, READER_TOKEN) as reader:
            assert (await reader.get("/api/rooms")).status_code == 200
            body = {"clientCommandId": "1", "content": "hi"}
            response = await reader.post("/api/messages", json=body)
            assert (response.status_code, code_of(response)) == (403, "FORBIDDEN_SCOPE")
        assert served.rooms.sent == []


async def test_a_rotated_token_counts_at_once() -> None:
    async with http_app() as served:
        assert (await served.client.get("/api/rooms")).status_code == 200
        served.credentials.replace({})
        assert (await served.client.get("/api/rooms")).status_code == 401


async def test_a_closing_server_answers_only_health() -> None:
    async with http_app() as served:
        served.state.readiness = "closing"
        response = await served.client.get("/api/rooms")
        assert (response.status_code, code_of(response)) == (503, "SHUTTING_DOWN")
        health = await served.client.get("/api/health")
        assert (health.status_code, health.json()["status"]) == (503, "closing")


@pytest.mark.parametrize("path", ["/api/health", "/api/rooms", "/api/nowhere", "/api/export"])
async def test_every_reply_has_the_security_headers_and_no_cors(path: str) -> None:
    async with http_app() as served:
        response = await served.client.get(path)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        found = [name for name in response.headers if name.startswith("access-control")]
        assert found == []
        assert "set-cookie" not in response.headers


async def test_a_preflight_gets_no_permission() -> None:
    async with http_app() as served:
        headers = {"access-control-request-method": "POST"}
        response = await served.client.options("/api/messages", headers=headers)
        assert (response.status_code, code_of(response)) == (405, "METHOD_NOT_ALLOWED")
        assert response.headers["allow"] == "POST"


async def answer_to(served: HttpApp, fault: Exception) -> httpx.Response:
    served.rooms.fault = fault
    return await served.client.get("/api/agents")


async def test_trouble_with_the_ledger_is_503_and_says_what_to_do() -> None:
    async with http_app() as served:
        response = await answer_to(served, LedgerError("The disk is full. Free space."))
        assert (response.status_code, code_of(response)) == (503, "STORE_UNAVAILABLE")
        assert response.json()["error"]["message"] == "The disk is full. Free space."


async def test_a_full_queue_is_no_fault_of_the_server() -> None:
    async with http_app() as served:
        fault = RefusedError("64 turns wait.", code=ErrorCode.QUEUE_CAPACITY_REACHED)
        response = await answer_to(served, fault)
        assert (response.status_code, code_of(response)) == (429, "QUEUE_CAPACITY_REACHED")


@pytest.mark.parametrize("fault", [ZeroDivisionError("secret text"), ConfigError("secret text")])
async def test_a_fault_of_ours_tells_an_id_and_nothing_else(fault: Exception) -> None:
    with capture_logs() as logged:
        async with http_app() as served:
            response = await answer_to(served, fault)
    error_id = response.json()["error"]["details"]["errorId"]
    assert (response.status_code, code_of(response)) == (500, "INTERNAL_ERROR")
    assert "secret text" not in response.text
    assert [entry["error_id"] for entry in logged] == [error_id]
    assert logged[0]["exc_info"][1] is fault


async def test_an_error_after_the_head_breaks_off_instead_of_a_second_head() -> None:
    sent: list[Any] = []

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    async def collect(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    with capture_logs() as logged:
        await Boundary(broken)({"type": "http"}, receive, collect)
    assert len(logged) == 1
    assert [message["type"] for message in sent] == ["http.response.start"]


async def test_a_web_socket_is_turned_away() -> None:
    sent: list[Any] = []

    async def collect(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def never(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("a web socket got in")

    async with asyncio.timeout(5):
        await Boundary(never)({"type": "websocket"}, receive, collect)
    assert sent == [{"type": "websocket.close", "code": 1008}]
