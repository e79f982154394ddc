"""Endpoints: what a reply that is not as it should be turns into."""

from __future__ import annotations

import pytest

from groupx_shared.errors import ErrorCode, ServerUnreachableError
from groupx_tui.cli.api import Api, ServerRefusedError, room_id, short
from groupx_tui.cli.wire_http import ConnectionLostError
from support.cli_server import CliServer
from support.wire_bytes import ByteServer


def api_of(server: CliServer, **changes: object) -> Api:
    return Api(server.workspace, server.runtime(**changes))


def rooms_from(server: CliServer, status: int, body: bytes) -> None:
    head = b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
    with ByteServer(head + body) as other:
        api_of(server, url=other.url).rooms()


def test_a_refusal_keeps_sentence_code_and_details(server: CliServer) -> None:
    error = {"code": "UNKNOWN_TARGET", "message": "No.", "details": {"known": ["kimi"]}}
    server.replies["GET", "/api/rooms"] = (404, {"error": error})
    with pytest.raises(ServerRefusedError) as caught:
        api_of(server).rooms()
    refused = caught.value
    assert (refused.message, refused.code, refused.status) == ("No.", ErrorCode.UNKNOWN_TARGET, 404)
    assert refused.details == {"known": ["kimi"]}


def test_a_code_of_a_newer_server_is_kept(server: CliServer) -> None:
    server.replies["GET", "/api/rooms"] = (409, {"error": {"code": "NEW", "message": "No."}})
    with pytest.raises(ServerRefusedError) as caught:
        api_of(server).rooms()
    assert caught.value.wire_code == "NEW"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error":"x"}'])
def test_an_error_that_is_not_ours_is_no_server(server: CliServer, body: bytes) -> None:
    with pytest.raises(ServerUnreachableError, match="not a GroupX server"):
        rooms_from(server, 500, body)


@pytest.mark.parametrize("body", [b"", b"{", b"[]"])
def test_a_reply_that_is_no_object_is_a_lost_reply(server: CliServer, body: bytes) -> None:
    with pytest.raises(ConnectionLostError):
        rooms_from(server, 200, body)


def test_ids_in_paths_are_quoted(server: CliServer) -> None:
    server.turns = {"a%2F..": {"turnId": "x"}}
    api_of(server).turn("a/..")
    assert server.requests[-1][1] == "/api/turns/a%2F.."


def test_health_can_be_asked(server: CliServer) -> None:
    assert api_of(server).health()["status"] == "ok"


def test_room_ids_are_completed() -> None:
    assert (room_id("main"), room_id("room:x")) == ("room:main", "room:x")


def test_agents_are_called_by_their_short_name() -> None:
    assert short("agent:a\x1b\nb") == "a␛ b"
