"""Host and Origin are compared as a whole: no prefix, suffix or second header gets through."""

from __future__ import annotations

import pytest

from groupx_server.http.origin import check_origin, is_ours
from groupx_shared.errors import ErrorCode, RefusedError

PORT = 40_123


def check(*headers: tuple[bytes, bytes]) -> None:
    check_origin({"type": "http", "headers": list(headers)}, PORT)


def refusal(*headers: tuple[bytes, bytes]) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        check(*headers)
    assert caught.value.code == ErrorCode.FORBIDDEN_ORIGIN
    return caught.value


@pytest.mark.parametrize(
    "host",
    [
        b"127.0.0.1:40123",
        b"localhost:40123",
        b"LOCALHOST:40123",
        b"[::1]:40123",
        b"127.1.2.3:40123",
    ],
)
def test_loopback_names_with_our_port_are_ours(host: bytes) -> None:
    check((b"host", host))


@pytest.mark.parametrize(
    "host",
    [
        b"evil.example:40123",
        b"127.evil.example:40123",
        b"127.0.0.1.evil.example:40123",
        b"localhost.evil.example:40123",
        b"evil.example",
        b"127.0.0.1",
        b"127.0.0.1:40124",
        b"127.0.0.1:",
        b"localhost.:40123",
        b"user@127.0.0.1:40123",
        b"127.0.0.1:40123@evil.example",
        b"127.0.0.1:40123 evil.example",
        b"0.0.0.0:40123",
        b"192.168.0.1:40123",
        b"2130706433:40123",
        b"0x7f.0.0.1:40123",
        b"127.1:40123",
        b"[::2]:40123",
        b"[fe80::1%25lo]:40123",
        b"::1:40123",
        b"",
        b"\xff\xfe:40123",
    ],
)
def test_every_other_host_is_refused(host: bytes) -> None:
    error = refusal((b"host", host))
    assert error.details["header"] == "Host"


def test_a_missing_or_doubled_host_is_refused() -> None:
    refusal()
    refusal((b"host", b"127.0.0.1:40123"), (b"host", b"127.0.0.1:40123"))


def test_port_80_may_be_left_out() -> None:
    assert is_ours(b"localhost", 80)
    assert not is_ours(b"localhost", 8080)


HOST = (b"host", b"127.0.0.1:40123")


def test_a_request_without_origin_or_with_our_own_is_taken() -> None:
    check(HOST)
    check(HOST, (b"origin", b"http://127.0.0.1:40123"))


@pytest.mark.parametrize(
    "origin",
    [
        b"null",
        b"https://127.0.0.1:40123",
        b"http://127.0.0.1",
        b"http://127.0.0.1:40124",
        b"http://localhost:40123",
        b"http://127.0.0.1:40123.evil.example",
        b"http://127.0.0.1:40123/",
        b"https://evil.example",
        b"file://",
        b"",
    ],
)
def test_every_other_origin_is_refused(origin: bytes) -> None:
    error = refusal(HOST, (b"origin", origin))
    assert error.details["header"] == "Origin"


def test_two_origins_are_refused_even_when_one_is_ours() -> None:
    refusal(HOST, (b"origin", b"http://127.0.0.1:40123"), (b"origin", b"https://evil.example"))


def test_a_browser_that_says_cross_site_is_believed() -> None:
    refusal(HOST, (b"sec-fetch-site", b"cross-site"))
    refusal(HOST, (b"sec-fetch-site", b"same-site"))
    check(HOST, (b"sec-fetch-site", b"same-origin"))
