"""Requests: bounded, repeated only when that is safe, never through a proxy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from groupx_shared.errors import ErrorCode, RefusedError, ServerUnreachableError
from groupx_shared.wire.requests import CommandRequest
from groupx_tui.client.endpoint import Endpoint
from groupx_tui.client.transport import Query, Transport
from support.fake_server import FakeServer, hang_up, refuse, runtime_at, stay_silent
from support.loopback_http import HttpRequest, Responder
from support.server_place import Place


async def read_into(received: list[bytes], transport: Transport) -> None:
    async with transport.stream("/api/export") as chunks:
        async for chunk in chunks:
            received += [chunk]


@pytest.fixture
async def transport(place: Place) -> AsyncIterator[Transport]:
    opened = Transport(Endpoint(place.find), reply_timeout_s=0.2)
    yield opened
    await opened.aclose()


async def test_a_request_carries_the_token_and_its_query(
    server: FakeServer, transport: Transport
) -> None:
    query: Query = {"limit": 3, "type": ["a", "b"], "before": None}
    with pytest.raises(RefusedError):
        await transport.ask("GET", "/api/nothing", query)
    (request,) = server.asked
    assert request.headers["authorization"] == "Bearer right-token"
    assert request.query == {"limit": "3", "type": "b"}


async def test_a_proxy_of_the_environment_never_gets_the_token(
    server: FakeServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    transport = Transport(Endpoint(place.find))
    await transport.ask("GET", "/api/turns")
    await transport.aclose()
    assert server.paths() == ["GET /api/turns"]


async def test_a_refusal_keeps_code_sentence_and_details(
    server: FakeServer, transport: Transport
) -> None:
    server.fail_next("/api/x", refuse(429, "QUEUE_CAPACITY_REACHED", "Full\x1b.", limit=64))
    with pytest.raises(RefusedError) as caught:
        await transport.ask("POST", "/api/x", body=CommandRequest(client_command_id="c"))
    error = caught.value
    assert (error.code, error.message, error.details) == (
        ErrorCode.QUEUE_CAPACITY_REACHED,
        "Full␛.",
        {"limit": 64},
    )
    assert len(server.asked) == 1


async def test_a_wrong_token_says_what_to_do(server: FakeServer, transport: Transport) -> None:
    server.token = "another"
    with pytest.raises(RefusedError, match="does not accept this client's token") as caught:
        await transport.ask("GET", "/api/turns")
    assert caught.value.code == ErrorCode.UNAUTHORIZED
    assert "groupx restart" in caught.value.message


async def test_a_new_token_is_read_and_used_at_once(
    server: FakeServer, place: Place, transport: Transport
) -> None:
    await transport.ask("GET", "/api/turns")
    server.token = "another"
    place.runtime = server.runtime
    await transport.ask("GET", "/api/turns")
    assert len(server.asked) == 3


async def test_a_server_that_moved_is_found(
    server: FakeServer, place: Place, transport: Transport
) -> None:
    place.runtime = runtime_at("http://127.0.0.1:9")
    transport.endpoint.refresh()
    place.runtime = server.runtime
    await transport.ask("GET", "/api/turns")
    assert server.paths() == ["GET /api/turns"]


async def test_nothing_listening_is_said(place: Place, transport: Transport) -> None:
    place.runtime = runtime_at("http://127.0.0.1:9")
    transport.endpoint.refresh()
    with pytest.raises(ServerUnreachableError, match=r"127\.0\.0\.1:9 .*nothing listens there"):
        await transport.ask("GET", "/api/turns")


async def test_a_connection_that_broke_is_tried_once_more(
    server: FakeServer, transport: Transport
) -> None:
    server.fail_next("/api/turns", hang_up)
    await transport.ask("GET", "/api/turns")
    assert len(server.asked) == 2


async def test_a_connection_that_breaks_twice_is_an_error(
    server: FakeServer, transport: Transport
) -> None:
    server.fail_next("/api/turns", hang_up)
    server.fail_next("/api/turns", hang_up)
    with pytest.raises(ServerUnreachableError, match="the connection broke"):
        await transport.ask("GET", "/api/turns")


async def test_a_silent_server_is_given_up_and_not_asked_again(
    server: FakeServer, transport: Transport
) -> None:
    server.fail_next("/api/turns", stay_silent)
    with pytest.raises(ServerUnreachableError, match="no answer in time"):
        await transport.ask("GET", "/api/turns")
    assert len(server.asked) == 1


async def test_what_is_not_our_server_is_told_apart(
    server: FakeServer, transport: Transport
) -> None:
    async def a_web_page(request: HttpRequest, respond: Responder) -> None:
        await respond.whole(404, b"<h1>It works!</h1>", "text/html")

    server.fail_next("/api/turns", a_web_page)
    with pytest.raises(ServerUnreachableError, match="is not the GroupX server"):
        await transport.ask("GET", "/api/turns")


async def test_a_stream_that_is_refused_is_a_refusal(
    server: FakeServer, transport: Transport
) -> None:
    server.fail_next("/api/export", refuse(404, "UNKNOWN_ROOM", "No such room."))
    with pytest.raises(RefusedError, match="No such room"):
        async with transport.stream("/api/export"):
            pass


async def test_a_stream_that_breaks_off_is_an_error(
    server: FakeServer, transport: Transport
) -> None:
    async def half(request: HttpRequest, respond: Responder) -> None:
        await respond.begin("application/x-ndjson")
        await respond.chunk(b"one\n")

    server.fail_next("/api/export", half)
    received: list[bytes] = []
    with pytest.raises(ServerUnreachableError, match="the connection broke"):
        await read_into(received, transport)
    assert received == [b"one\n"]


@pytest.mark.slow
@pytest.mark.process
def test_importing_the_client_loads_no_http_library_and_no_screen() -> None:
    code = (
        "import sys, groupx_tui.client.session, groupx_tui.state.reduce;"
        "loaded = {name.partition('.')[0] for name in sys.modules};"
        "sys.exit(repr(loaded & {'httpx', 'textual', 'rich', 'typer'}) if loaded & "
        "{'httpx', 'textual', 'rich', 'typer'} else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
