"""What an error of Codex means for a turn, in a sentence a person can use.

Pure. A turn fails with a `TurnError`: a message (sometimes the raw JSON of the model's answer), a
`codexErrorInfo` that is a word or an object with one key, further details. A refused request is a
JSON-RPC error, nearly always -32600 with a text, so the text decides. Counterpart: `codex.py`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from groupx_server.agents.jsonrpc import ErrorResponse
from groupx_server.agents.loose import as_dict, as_text
from groupx_server.agents.reasons import (
    MAX_REASON_CHARS,
    inner_text,
    mentions_limit,
    mentions_policy,
    mentions_sign_in,
)
from groupx_server.domain.native import TurnFailed
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.text import safe_line

_SIGN_IN_WORDS: Final = frozenset({"unauthorized"})
_LIMIT_WORDS: Final = frozenset(
    {"usageLimitExceeded", "rateLimitExceeded", "sessionBudgetExceeded"}
)
_SIGN_IN_STATUS: Final = frozenset({401, 403})
_LIMIT_STATUS: Final = frozenset({429})
_NO_THREAD: Final = re.compile(r"thread not found|no rollout found|invalid session id")
_NO_TURN: Final = re.compile(r"no active turn")
_TOOLS_FAILED: Final = re.compile(r"required MCP servers failed to initialize:? ?(.*)", re.DOTALL)


def read_turn_error(agent: str, error: Any, resets_at: int | None = None) -> TurnFailed:
    """The failure that a `TurnError` is. `details` has `reason`, `codexError`, `httpStatus`, and
    `authRequired` or `rateLimited` (with `resetsAt`, Unix seconds, when Codex told it)."""
    fields = as_dict(error)
    word, status = _info(fields.get("codexErrorInfo"))
    reason = reason_of(fields)
    details: dict[str, Any] = {"reason": reason, "codexError": word}
    if status is not None:
        details["httpStatus"] = status
    if word in _SIGN_IN_WORDS or status in _SIGN_IN_STATUS or mentions_sign_in(reason):
        details["authRequired"] = True
        message = (
            f"{agent} is not signed in: {reason}. Run “codex login” in a shell, or give it a key "
            "as its own documentation says."
        )
        return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
    if word in _LIMIT_WORDS or status in _LIMIT_STATUS or mentions_limit(reason):
        details["rateLimited"] = True
        if resets_at is not None:
            details["resetsAt"] = resets_at
        message = f"{agent} is out of its limits: {reason}. Try again later."
        return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
    if word == "contextWindowExceeded":
        message = f"The conversation is too long for {agent}'s model: {reason}."
        return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)
    message = f"{agent} reported an error: {reason}."
    return TurnFailed(ErrorCode.AGENT_ERROR, message, details=details)


def read_refusal(agent: str, error: ErrorResponse) -> AgentError:
    """The error that a refused request is: a lost thread, a policy, sign-in, or Codex's words."""
    reason = refusal_reason(error)
    details = {"rpcCode": error.code, "method": error.method, "reason": reason}
    if is_unknown_thread(error):
        message = f"{agent} no longer has this thread ({reason}); the next turn opens another."
        return AgentError(message, code=ErrorCode.SESSION_NOT_AVAILABLE, details=details)
    if mentions_policy(reason):
        message = f"A policy of {agent} forbids this: {reason}. Ask who manages it."
        return AgentError(message, code=ErrorCode.NATIVE_POLICY_BLOCKED, details=details)
    message = f"{agent} refused {error.method}: {reason}."
    return AgentError(message, code=ErrorCode.AGENT_ERROR, details=details)


def reason_of(error: dict[str, Any]) -> str:
    """The most telling text of a `TurnError`, as one safe line without a final period."""
    texts = (inner_text(error.get(key)) for key in ("message", "additionalDetails"))
    told = ": ".join(dict.fromkeys(text.strip() for text in texts if text.strip()))
    return safe_line(told, MAX_REASON_CHARS).rstrip(". ") or "it gave no reason"


def refusal_reason(error: ErrorResponse) -> str:
    """The text of a JSON-RPC error, as one safe line without a final period."""
    return safe_line(error.message, MAX_REASON_CHARS).rstrip(". ") or f"error {error.code}"


def is_unknown_thread(error: ErrorResponse) -> bool:
    """True when Codex does not have the thread (or never kept it: it had no turn)."""
    return _NO_THREAD.search(error.message) is not None


def is_no_turn(error: ErrorResponse) -> bool:
    """True when there is no turn to interrupt or to steer."""
    return _NO_TURN.search(error.message) is not None


def tools_failure(error: ErrorResponse) -> str | None:
    """Why tools that a thread was to have could not be attached; None for another refusal."""
    found = _TOOLS_FAILED.search(error.message)
    return None if found is None else safe_line(found[1], MAX_REASON_CHARS) or "no reason given"


def _info(value: Any) -> tuple[str, int | None]:
    """`"other"` or `{"httpConnectionFailed": {"httpStatusCode": 401}}`."""
    if isinstance(value, dict) and value:
        word, inner = next(iter(value.items()))
        status = as_dict(inner).get("httpStatusCode")
        is_status = isinstance(status, int) and not isinstance(status, bool)
        return safe_line(str(word), 80), status if is_status else None
    return safe_line(as_text(value), 80), None
