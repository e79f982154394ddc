"""Every failure becomes one clean sentence with a next step."""

from __future__ import annotations

import httpx
import pytest

from groupx_shared.errors import ErrorCode, GroupXError, RefusedError, ServerUnreachableError
from groupx_shared.wire.requests import CreateRoom
from groupx_tui.client.refusals import cause_of, not_ours, refusal_of, request_of, unreachable

URL = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError("x"), "nothing listens there"),
        (httpx.ConnectTimeout("x"), "no connection in time"),
        (httpx.ReadTimeout("x"), "no answer in time"),
        (httpx.RemoteProtocolError("x"), "the connection broke"),
        (httpx.ReadError("x"), "the connection broke"),
        (httpx.ProxyError("odd\x1bthing"), "odd␛thing"),
        (httpx.ProxyError(""), "ProxyError"),
    ],
)
def test_a_broken_connection_says_what_happened(error: httpx.TransportError, words: str) -> None:
    sentence = unreachable(URL, cause_of(error)).message
    assert f"{URL} does not answer ({words})" in sentence
    assert "groupx logs" in sentence


def test_a_refusal_while_closing_is_a_refusal() -> None:
    body = b'{"error": {"code": "SHUTTING_DOWN", "message": "Closing."}}'
    error = refusal_of(503, body, URL)
    assert isinstance(error, RefusedError)
    assert error.code == ErrorCode.SHUTTING_DOWN


def test_a_failure_is_not_a_refusal() -> None:
    body = b'{"error": {"code": "INTERNAL_ERROR", "message": "Sorry."}}'
    assert type(refusal_of(500, body, URL)) is GroupXError


def test_an_answer_without_our_error_is_of_another_program() -> None:
    assert isinstance(refusal_of(502, b"Bad Gateway", URL), ServerUnreachableError)
    assert "groupx doctor" in not_ours(URL, "x").message


def test_a_request_that_fits_is_built() -> None:
    assert request_of(CreateRoom, client_command_id="c", title="T").title == "T"
