"""Each failure says what happened and what to do, and what may be tried."""

from __future__ import annotations

import pytest

from groupx_server.builtin_agent import failures
from groupx_server.builtin_agent.endpoint import Endpoint

ENDPOINT = Endpoint("http://u:secret@127.0.0.1:1/v1", "m", "configured", api_key="sk-secret")


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, "rejected", "takes a prompt of this size"),
        (401, "auth", "GROUPX_MODEL_API_KEY"),
        (403, "auth", "GROUPX_MODEL_API_KEY"),
        (404, "rejected", "ollama pull m"),
        (408, "busy", "Wait a little"),
        (429, "busy", "Wait a little"),
        (500, "busy", "its own log"),
        (503, "busy", "its own log"),
        (307, "rejected", "another address"),
    ],
)
def test_a_status_becomes_a_sentence_with_advice(status: int, kind: str, advice: str) -> None:
    failure = failures.from_status(ENDPOINT, status, "because\x1b[2J")
    assert failure.kind == kind
    assert advice in failure.message
    assert f"HTTP {status}" in failure.message
    assert "secret" not in failure.message
    assert "\x1b" not in failure.message
    assert failure.details == {"kind": kind, "status": status}
    assert failure.is_transient is (kind == "busy")


def test_what_the_endpoint_said_is_quoted_and_bounded() -> None:
    failure = failures.from_status(ENDPOINT, 400, "x" * 5000)
    assert "xxx" in failure.message
    assert len(failure.message) < 800


@pytest.mark.parametrize(
    ("status", "said", "tools", "options", "history"),
    [
        (400, "registry.ollama.ai/m does not support tools", True, False, False),
        (500, "tools param requires --jinja flag", True, False, False),
        (429, "tools rate limit", False, False, False),
        (400, "unknown field stream_options", False, True, False),
        (400, "This model's maximum context length is 4096 tokens", False, False, True),
        (400, "the request exceeds the available context size", False, False, True),
        (401, "tools", False, False, False),
        (400, "bad", False, False, False),
    ],
)
def test_what_an_endpoint_objects_to_is_recognised(
    status: int, said: str, tools: bool, options: bool, history: bool
) -> None:
    failure = failures.from_status(ENDPOINT, status, said)
    assert failure.wants_no_tools is tools
    assert failure.wants_no_stream_options is options
    assert failure.wants_less_history is history


def test_a_broken_stream_says_whether_something_is_kept() -> None:
    assert "kept" in failures.dropped(ENDPOINT, "reset", streamed=True).message
    assert "kept" not in failures.dropped(ENDPOINT, "reset", streamed=False).message
    assert "kept" in failures.timed_out(ENDPOINT, 5, streamed=True).message
    assert "GROUPX_MODEL_TIMEOUT_S" in failures.timed_out(ENDPOINT, 5, streamed=False).message


def test_an_error_inside_a_stream_keeps_its_status() -> None:
    failure = failures.reported_in_stream(ENDPOINT, "overloaded", 503)
    assert (failure.kind, failure.status) == ("busy", 503)
    assert failures.reported_in_stream(ENDPOINT, "bad", None).kind == "rejected"


def test_an_empty_answer_says_when_there_was_only_reasoning() -> None:
    assert "only reasoned" in failures.empty_answer(ENDPOINT, "stop", reasoned=True).message
    assert "only reasoned" not in failures.empty_answer(ENDPOINT, "", reasoned=False).message


def test_nothing_there_and_nonsense_there_name_the_setting() -> None:
    assert "GROUPX_MODEL_BASE_URL" in failures.unreachable(ENDPOINT, "refused").message
    assert "GROUPX_MODEL_BASE_URL" in failures.unreadable(ENDPOINT, "html").message
