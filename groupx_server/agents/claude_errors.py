"""What a failed result of Claude Code means for the turn, in a sentence a person can use.

Pure. A result is judged by `is_error` and `terminal_reason`, never by its subtype: a refused model
request comes as "success". The counterpart is `claude_turn.py`.
"""

from __future__ import annotations

from typing import Any, Final

from groupx_server.agents.loose import as_list, as_text
from groupx_server.agents.reasons import MAX_REASON_CHARS, mentions_limit, mentions_sign_in
from groupx_server.domain.native import TurnFailed
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

ABORTED: Final = frozenset({"aborted_streaming", "aborted_tools"})
"""Ways for a turn to end that somebody asked for."""
_AUTH_ERRORS: Final = frozenset({"authentication_failed", "oauth_org_not_allowed"})
_AUTH_STATUS: Final = frozenset({401, 403})
_LIMIT_ERRORS: Final = frozenset({"rate_limit", "usage_limit_reached", "billing_error"})
_LIMIT_STATUS: Final = 429
_NOT_LOGGED_IN: Final = "Not logged in"
_SUBTYPES: Final = {
    "error_max_turns": "it reached its limit of model requests for one turn",
    "error_max_budget_usd": "it reached its budget",
    "error_max_structured_output_retries": "its model did not keep to the form asked for",
}
_INTERNAL_MARK: Final = "[ede_diagnostic]"
"""Begins notes of the program to its makers."""


def read_failure(
    agent: str, result: dict[str, Any], api_error: str, resets_at: int | None
) -> TurnFailed:
    """Sort a result with `is_error`. `api_error` is the program's word for the last refusal of
    its model; `resets_at` when a limit ends (seconds since 1970), if it told."""
    told = result.get("api_error_status")
    status = told if isinstance(told, int) and not isinstance(told, bool) else None
    reason = reason_of(result, api_error)
    details: dict[str, Any] = {"reason": reason}
    if status is not None:
        details["status"] = status
    if api_error in _AUTH_ERRORS or status in _AUTH_STATUS or _is_sign_in(reason):
        details["authRequired"] = True
        message = (
            f"{agent} is not signed in: {reason}. Sign in by running “claude” once in a terminal, "
            "or give it ANTHROPIC_API_KEY in the agent's `env`."
        )
        return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
    if api_error in _LIMIT_ERRORS or status == _LIMIT_STATUS or mentions_limit(reason):
        details["rateLimited"] = True
        if resets_at is not None:
            details["resetsAt"] = resets_at
        message = f"{agent} is out of its limits: {reason}. Try again later."
        return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
    return TurnFailed(
        ErrorCode.AGENT_ERROR, f"{agent} reported an error: {reason}.", details=details
    )


def reason_of(result: dict[str, Any], api_error: str = "") -> str:
    """The most telling text of a failed result, as one safe line without a final period."""
    errors = [text for item in as_list(result.get("errors")) if (text := as_text(item))]
    told = next((text for text in errors if not text.startswith(_INTERNAL_MARK)), "")
    subtype = as_text(result.get("subtype"))
    text = as_text(result.get("result")) or told or _SUBTYPES.get(subtype, "") or api_error
    text = text or as_text(result.get("terminal_reason")) or subtype
    return safe_line(text, MAX_REASON_CHARS).rstrip(". ") or "an error without a text"


def _is_sign_in(reason: str) -> bool:
    return reason.startswith(_NOT_LOGGED_IN) or mentions_sign_in(reason)
