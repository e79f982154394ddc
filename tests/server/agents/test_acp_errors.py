"""Errors of agents become sentences with the real reason in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupx_server.agents.acp_errors import read_refusal, reason_of
from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_shared.errors import ErrorCode


def _error(code: int, message: str = "", data: Any = None) -> ErrorResponse:
    return ErrorResponse(1, "session/prompt", code, message, data)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (_error(-32603, "Internal error", {"details": "no model"}), "no model"),
        (_error(-32603, "Internal error: no model"), "no model"),
        (_error(-32603, "Internal error"), "Internal error"),
        (_error(-32602, "Invalid params", {"message": '{"error":{"message":"bad"}}'}), "bad"),
        (_error(400, '{"error":{"code":400,"message":"too long"}}'), "too long"),
        (_error(500, "terminated."), "terminated"),
        (_error(1, "a", "b"), "a: b"),
        (_error(1, "same", {"message": "same"}), "same"),
        (_error(7), "error 7 without a text"),
        (_error(1, "\x1b[31mred\x1b[0m"), "\u241b[31mred\u241b[0m"),
    ],
)
def test_the_reason_is_found_where_vendors_hide_it(error: ErrorResponse, reason: str) -> None:
    assert reason_of(error) == reason


@pytest.mark.parametrize(
    ("error", "code", "lost", "detail"),
    [
        (_error(-32000, "Authentication required"), ErrorCode.AGENT_ERROR, False, "authRequired"),
        (_error(401, "no"), ErrorCode.AGENT_ERROR, False, "authRequired"),
        (_error(-31002, "rejected"), ErrorCode.AGENT_ERROR, True, "authRequired"),
        (_error(429, "slow down"), ErrorCode.AGENT_ERROR, False, "rateLimited"),
        (_error(-32603, "Rate limit reached"), ErrorCode.AGENT_ERROR, False, "rateLimited"),
        (_error(-32002, "Resource not found"), ErrorCode.SESSION_NOT_AVAILABLE, True, "reason"),
        (_error(-32600, "turn already runs"), ErrorCode.SESSION_NOT_AVAILABLE, True, "reason"),
        (
            _error(-32603, "managed policy says no"),
            ErrorCode.NATIVE_POLICY_BLOCKED,
            False,
            "reason",
        ),
        (_error(-32603, "anything"), ErrorCode.AGENT_ERROR, False, "reason"),
        (_error(-32601, "Method not found"), ErrorCode.AGENT_ERROR, False, "reason"),
    ],
)
def test_an_error_is_sorted(error: ErrorResponse, code: ErrorCode, lost: bool, detail: str) -> None:
    refusal = read_refusal("Toy", error)
    assert (refusal.code, refusal.session_lost) == (code, lost)
    assert refusal.details[detail]
    assert refusal.message.startswith(("Toy", "A policy of Toy"))


_ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["error", "message", "details"]), inner)
    ),
    max_leaves=6,
)


@given(st.integers(), st.text(max_size=2_000), _ANY)
def test_any_error_gives_one_short_safe_line(code: int, message: str, data: Any) -> None:
    refusal = read_refusal("Toy", _error(code, message, data))
    assert "\n" not in refusal.message
    assert "\x1b" not in refusal.message
    assert len(refusal.message) < 800
