"""JSON-RPC 2.0 messages as ACP sends them: one JSON object on each line. Sans-IO.

Tolerant on read: whatever is not a message becomes `Garbage` and hurts nobody. Ids are opaque
(0, strings and null are valid). The counterpart is the client's peer in agents/.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from groupx_shared.errors import ErrorCode, GroupXError

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
AUTH_REQUIRED: Final = -32000
"""ACP: the agent's model wants a key."""
RESOURCE_NOT_FOUND: Final = -32002
"""ACP: unknown session."""


class RpcError(GroupXError):
    """An error answer. `rpc_code` is JSON-RPC's number; `details` becomes the answer's `data`."""

    default_code = ErrorCode.PROTOCOL_INVALID_MESSAGE

    def __init__(
        self, rpc_code: int, message: str, *, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, details=details)
        self.rpc_code = rpc_code


@dataclass(frozen=True, slots=True)
class Request:
    """Wants exactly one answer with the same id."""

    id: Any
    method: str
    params: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notification:
    """Wants no answer."""

    method: str
    params: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to a request of ours."""

    id: Any


@dataclass(frozen=True, slots=True)
class Garbage:
    """A line that is no message; `reason` is for the log."""

    reason: str


Message = Request | Notification | Reply | Garbage


def parse_line(line: bytes) -> Message:
    """Return what one line says; never raises."""
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Garbage(f"not JSON ({error})")
    if not isinstance(data, dict):
        return Garbage(f"expected a JSON object, found {type(data).__name__}")
    method = data.get("method")
    if not isinstance(method, str):
        return Reply(data["id"]) if "id" in data else Garbage("neither a method nor an answer")
    params = data.get("params")
    params = {} if params is None else params
    if "id" in data:
        return Request(data["id"], method, params)
    return Notification(method, params)


def encode_result(request_id: Any, result: Any) -> bytes:
    """Encode a successful answer as one line, newline included."""
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: Any, error: RpcError) -> bytes:
    """Encode an error answer as one line."""
    body: dict[str, Any] = {"code": error.rpc_code, "message": error.message}
    if error.details:
        body["data"] = error.details
    return _line({"jsonrpc": "2.0", "id": request_id, "error": body})


def encode_notification(method: str, params: Any) -> bytes:
    """Encode a notification as one line."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def _line(message: dict[str, Any]) -> bytes:
    return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
