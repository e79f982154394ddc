"""What an error of Codex means."""

from __future__ import annotations

from typing import Any

import pytest

from groupx_server.agents.codex_errors import (
    is_no_turn,
    read_refusal,
    read_turn_error,
    tools_failure,
)
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_shared.errors import ErrorCode


def _refused(text: str) -> ErrorResponse:
    return ErrorResponse(1, "thread/start", -32600, text)


@pytest.mark.parametrize(
    ("error", "details"),
    [
        ({"message": "x", "codexErrorInfo": "unauthorized"}, {"authRequired": True}),
        (
            {"message": "x", "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 403}}},
            {"authRequired": True, "httpStatus": 403},
        ),
        ({"message": "x", "codexErrorInfo": "usageLimitExceeded"}, {"rateLimited": True}),
        ({"message": "Too many requests"}, {"rateLimited": True, "codexError": ""}),
        ({"message": "x", "codexErrorInfo": {"other": None}}, {"codexError": "other"}),
        ({"message": "x", "codexErrorInfo": {"a": {"httpStatusCode": True}}}, {"codexError": "a"}),
        ({"message": '{"error":{"message":"inner"}}'}, {"reason": "inner"}),
        (
            {"message": "Failed.", "additionalDetails": "because"},
            {"reason": "Failed.: because"},
        ),
        ({}, {"reason": "it gave no reason"}),
        (None, {"reason": "it gave no reason"}),
        ([1], {"codexError": ""}),
    ],
)
def test_an_error_is_sorted_by_what_it_says(error: Any, details: dict[str, Any]) -> None:
    failure = read_turn_error("Codex", error)
    assert failure.code is ErrorCode.AGENT_ERROR
    assert details.items() <= failure.details.items()


def test_a_limit_says_when_it_ends() -> None:
    error = {"message": "Limit reached", "codexErrorInfo": "usageLimitExceeded"}
    assert read_turn_error("Codex", error, 1_800_000_000).details["resetsAt"] == 1_800_000_000
    assert "resetsAt" not in read_turn_error("Codex", error).details
    assert "resetsAt" not in read_turn_error("Codex", {"message": "x"}, 1_800_000_000).details


def test_a_conversation_that_is_too_long_is_named() -> None:
    error = {"message": "too many tokens", "codexErrorInfo": "contextWindowExceeded"}
    assert "too long" in read_turn_error("Codex", error).message


def test_hostile_text_is_cleaned_and_bounded() -> None:
    failure = read_turn_error("Codex", {"message": "\x1b[31m" + "x" * 9_000 + "\nsecond"})
    assert "\x1b" not in failure.message
    assert len(failure.message) < 600


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("thread not found: t", ErrorCode.SESSION_NOT_AVAILABLE),
        ("no rollout found for thread id t", ErrorCode.SESSION_NOT_AVAILABLE),
        ("forbidden by a managed policy", ErrorCode.NATIVE_POLICY_BLOCKED),
        ("Not initialized", ErrorCode.AGENT_ERROR),
        ("", ErrorCode.AGENT_ERROR),
    ],
)
def test_a_refused_request_is_sorted_by_its_text(text: str, code: ErrorCode) -> None:
    error = read_refusal("Codex", _refused(text))
    assert error.code is code
    assert error.details["rpcCode"] == -32600


def test_a_missing_turn_and_missing_tools_are_recognised() -> None:
    assert is_no_turn(_refused("no active turn to interrupt"))
    assert not is_no_turn(_refused("busy"))
    failed = "Fatal error: required MCP servers failed to initialize: groupx: nobody listens"
    assert tools_failure(_refused(failed)) == "groupx: nobody listens"
    assert tools_failure(_refused("required MCP servers failed to initialize")) == "no reason given"
    assert tools_failure(_refused("other")) is None
