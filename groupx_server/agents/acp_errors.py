"""What an ACP agent's refusal means for a turn or a session, in a sentence a person can use.

Pure. The text is the agent's own, found where each vendor hides it (message, `data.details`,
JSON inside the message), cleaned and bounded here because it goes into our sentence.
Counterpart: `acp_turn.py` (turns) and `acp_driver.py` (handshake and sessions).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.agents.jsonrpc import METHOD_NOT_FOUND, ErrorResponse
from groupx_server.agents.reasons import (
    MAX_REASON_CHARS,
    inner_text,
    mentions_limit,
    mentions_policy,
    mentions_sign_in,
)
from groupx_shared.errors import ErrorCode
from groupx_shared.text import safe_line

AUTH_REQUIRED: Final = -32000
INVALID_REQUEST: Final = -32600
RESOURCE_NOT_FOUND: Final = -32002
_AUTH_CODES: Final = frozenset({AUTH_REQUIRED, 401, 403, -31002})
"""-32000 is the protocol's; some agents pass on the HTTP status; -31002 is Vibe's."""
_RATE_CODES: Final = frozenset({429})
_NO_SESSION_TEXT: Final = re.compile(
    r"session[^.]{0,120}not found|unknown session|no such session", re.IGNORECASE
)
SIGN_IN: Final = "Sign in with its own program, or give it a key in the agent's `env`."
_EMPTY_PREFIX: Final = re.compile(
    r"(?:internal error|invalid params|invalid request)(?:: |$)", re.I
)
"""What JSON-RPC libraries put before (or instead of) the real reason."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An agent's error answer, understood."""

    code: ErrorCode
    message: str
    session_lost: bool
    details: dict[str, Any]
    process_is_fine: bool = False
    """Only the session is gone: another one can be opened in the same process."""


def read_refusal(agent: str, error: ErrorResponse, sign_in: str = "") -> Refusal:
    """Sort an error answer. `details` holds `rpcCode`, `method`, a short `reason`, and what
    `domain.condition` reads. `sign_in`: what a person does when nobody is signed in."""
    reason = reason_of(error)
    details = {"rpcCode": error.code, "method": error.method, "reason": reason}
    if is_unsupported(error):
        message = f"{agent} does not know {error.method}: {reason}."
        return Refusal(ErrorCode.AGENT_ERROR, message, False, details)
    if mentions_policy(reason):
        message = f"A policy of {agent} forbids this: {reason}. Ask who manages it."
        return Refusal(ErrorCode.NATIVE_POLICY_BLOCKED, message, False, details)
    if error.code == RESOURCE_NOT_FOUND or _NO_SESSION_TEXT.search(reason):
        message = f"{agent} no longer has this session ({reason}); the next turn opens another."
        return Refusal(ErrorCode.SESSION_NOT_AVAILABLE, message, True, details, True)
    if error.code in _AUTH_CODES or mentions_sign_in(reason):
        details["authRequired"] = True
        message = f"{agent} is not signed in: {reason}. {sign_in or SIGN_IN}"
        return Refusal(ErrorCode.AGENT_ERROR, message, _keeps_rejecting(error), details)
    if error.code == INVALID_REQUEST and "already" in reason:
        message = f"{agent} says that another turn is still running: {reason}."
        return Refusal(ErrorCode.SESSION_NOT_AVAILABLE, message, True, details)
    if error.code in _RATE_CODES or mentions_limit(reason):
        details["rateLimited"] = True
        message = f"{agent} is out of its limits: {reason}. Try again later."
        return Refusal(ErrorCode.AGENT_ERROR, message, False, details)
    return Refusal(ErrorCode.AGENT_ERROR, f"{agent} reported an error: {reason}.", False, details)


def is_unsupported(error: ErrorResponse) -> bool:
    """True when the agent does not have the method at all."""
    return error.code == METHOD_NOT_FOUND


def reason_of(error: ErrorResponse) -> str:
    """The most telling text of an error answer, as one safe line without a final period."""
    texts = [inner_text(error.message), *_data_texts(error.data)]
    told = [_EMPTY_PREFIX.sub("", text.strip()) or text.strip() for text in texts]
    seen = [text for text in dict.fromkeys(told) if text]
    if len(seen) > 1 and _EMPTY_PREFIX.fullmatch(seen[0]):
        seen = seen[1:]
    reason = safe_line(": ".join(seen[:2]), MAX_REASON_CHARS).rstrip(". ")
    return reason or f"error {error.code} without a text"


def _keeps_rejecting(error: ErrorResponse) -> bool:
    """Vibe marks a rejected key for the life of its process."""
    return error.code == -31002


def _data_texts(data: Any) -> list[str]:
    if isinstance(data, str):
        return [inner_text(data)]
    if not isinstance(data, dict):
        return []
    values = [data.get(key) for key in ("details", "message", "reason", "error")]
    return [inner_text(value) for value in values if value]
