"""Refusals on the wire: the one place where an error code becomes a status.

A refusal keeps its code, sentence and details. Whatever is not a `GroupXError` becomes
INTERNAL_ERROR with an id that is also in the log; its own text stays in the log.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from groupx_server.http.reply import Header, JsonReply
from groupx_shared.errors import ErrorCode, GroupXError

STATUS: Final[dict[ErrorCode, int]] = {
    ErrorCode.INVALID_ENVELOPE: 400,
    ErrorCode.SENDER_FIELD_FORBIDDEN: 400,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.FORBIDDEN_ORIGIN: 403,
    ErrorCode.FORBIDDEN_SCOPE: 403,
    ErrorCode.UNKNOWN_ACTOR: 404,
    ErrorCode.UNKNOWN_TARGET: 404,
    ErrorCode.UNKNOWN_ROOM: 404,
    ErrorCode.UNKNOWN_EVENT: 404,
    ErrorCode.UNKNOWN_TURN: 404,
    ErrorCode.UNKNOWN_MEMORY: 404,
    ErrorCode.UNKNOWN_IDENTITY: 404,
    ErrorCode.UNKNOWN_PATH: 404,
    ErrorCode.ADAPTER_NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.STORE_CONFLICT: 409,
    ErrorCode.CLIENT_COMMAND_CONFLICT: 409,
    ErrorCode.DUPLICATE_DISPATCH: 409,
    ErrorCode.CAUSAL_CYCLE: 409,
    ErrorCode.ROOM_EXISTS: 409,
    ErrorCode.ROOM_ARCHIVED: 409,
    ErrorCode.AGENT_DISABLED: 409,
    ErrorCode.CONFIG_INVALID: 409,
    ErrorCode.TRANSPORT_MODE_MISMATCH: 409,
    ErrorCode.MCP_BINDING_MISMATCH: 409,
    ErrorCode.SUPERVISION_WATCH_REQUIRED: 409,
    ErrorCode.SUPERVISION_STEER_REQUIRED: 409,
    ErrorCode.SUPERVISION_PAIR_INVALID: 409,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
    ErrorCode.CONTEXT_BUDGET_EXCEEDED: 413,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.QUEUE_CAPACITY_REACHED: 429,
    ErrorCode.ROOT_TURN_LIMIT_REACHED: 429,
    ErrorCode.HOP_LIMIT_REACHED: 429,
    ErrorCode.STEER_LIMIT_REACHED: 429,
    ErrorCode.BUDGET_EXCEEDED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.SHUTTING_DOWN: 503,
    ErrorCode.SESSION_NOT_AVAILABLE: 503,
    ErrorCode.NATIVE_RESUME_UNSUPPORTED: 503,
    ErrorCode.NATIVE_POLICY_BLOCKED: 503,
    ErrorCode.MCP_UNAVAILABLE: 503,
    ErrorCode.ADAPTER_START_FAILED: 503,
    ErrorCode.PROTOCOL_HANDSHAKE_TIMEOUT: 503,
    ErrorCode.PROTOCOL_INVALID_MESSAGE: 503,
    ErrorCode.TURN_FIRST_EVENT_TIMEOUT: 503,
    ErrorCode.TURN_IDLE_TIMEOUT: 503,
    ErrorCode.TURN_CANCEL_TIMEOUT: 503,
    ErrorCode.TURN_INTERRUPTED: 503,
    ErrorCode.UNEXPECTED_NATIVE_INTERACTION: 503,
    ErrorCode.AGENT_ERROR: 503,
    ErrorCode.EMPTY_ANSWER: 503,
}
"""Every code has one. Those of an agent's turn normally stand in events, not in replies."""

RETRY_AFTER_S: Final = b"1"


def error_reply(error: GroupXError) -> JsonReply:
    """The reply to a refusal. INTERNAL_ERROR is not for this: see `internal_reply`."""
    status = STATUS[error.code]
    headers: list[Header] = []
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="groupx"'))
    if status == 405:
        headers.append((b"allow", ", ".join(error.details["allow"]).encode()))
    if status == 503:
        headers.append((b"retry-after", RETRY_AFTER_S))
    return JsonReply(_body(error.code, error.message, error.details), status, tuple(headers))


def internal_reply(error_id: str) -> JsonReply:
    """The reply to a fault of ours; the log has the rest under `error_id`."""
    sentence = f"The server failed at this request. Its log has the cause under {error_id}."
    return JsonReply(_body(ErrorCode.INTERNAL_ERROR, sentence, {"errorId": error_id}), 500)


def _body(code: ErrorCode, message: str, details: dict[str, Any]) -> bytes:
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = details
    return orjson.dumps({"error": error}, default=str)
