"""Addresses: normalised, recognised, and shown without secrets."""

from __future__ import annotations

import pytest

from groupx_server.builtin_agent.endpoint import (
    Endpoint,
    is_loopback,
    normalise_base_url,
    shown_url,
)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://h/v1/", "http://h/v1"),
        (" https://h/openai/v1 ", "https://h/openai/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("http://h/v1?key=1#x", "http://h/v1"),
    ],
)
def test_an_address_is_brought_to_its_base(url: str, base: str) -> None:
    assert normalise_base_url(url) == base


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://h/v1", "http://", "http://h:99999/", "http://[::1/v1", "x"]
)
def test_what_is_no_address_is_refused_with_what_was_expected(url: str) -> None:
    with pytest.raises(ValueError, match=r"expected an address|is not an address"):
        normalise_base_url(url)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1/v1", True),
        ("http://127.9.9.9/", True),
        ("http://localhost:1/", True),
        ("http://[::1]:80/", True),
        ("http://127.0.0.1.evil.example/", False),
        ("http://10.0.0.1/", False),
        ("https://api.example/", False),
    ],
)
def test_loopback_is_recognised(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_credentials_and_queries_are_not_shown() -> None:
    assert shown_url("https://me:secret@h:8/v1?key=abc") == "https://h:8/v1"
    assert "\x1b" not in shown_url("http://h/\x1b[31m")


def test_a_shown_endpoint_names_model_and_address() -> None:
    endpoint = Endpoint("http://u:p@h/v1", "m\x1b", "configured", api_key="k")
    assert endpoint.shown == "m␛ at http://h/v1"
    assert endpoint.chat_url == "http://u:p@h/v1/chat/completions"
