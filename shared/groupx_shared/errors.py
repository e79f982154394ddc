"""The one root of our errors, and the codes that clients test.

    GroupXError                 carries code, sentence, details
    ├── RefusedError            a request the server will not do (4xx); nothing was changed
    ├── LedgerError             the database cannot be opened, read or written
    │   ├── LedgerTooNewError   written by a newer program; left untouched
    │   ├── LedgerCorruptError  SQLite says the file is damaged
    │   ├── LedgerBusyError     another server holds the lease
    │   └── LedgerDiskError     the disk is full, failed or read-only; may pass by itself
    ├── AgentError              an agent program could not start or broke its protocol
    ├── ConfigError             a setting is wrong; names file, key, expectation
    ├── WorkspaceError          a folder or file of ours cannot be used
    └── ServerUnreachableError  no server answers

Clients test `code`, never the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ErrorCode(StrEnum):
    """Every code the server or an agent turn can end with (docs/ERRORS.md lists them)."""

    ADAPTER_NOT_FOUND = "ADAPTER_NOT_FOUND"
    ADAPTER_START_FAILED = "ADAPTER_START_FAILED"
    PROTOCOL_HANDSHAKE_TIMEOUT = "PROTOCOL_HANDSHAKE_TIMEOUT"
    PROTOCOL_INVALID_MESSAGE = "PROTOCOL_INVALID_MESSAGE"
    SESSION_NOT_AVAILABLE = "SESSION_NOT_AVAILABLE"
    NATIVE_RESUME_UNSUPPORTED = "NATIVE_RESUME_UNSUPPORTED"
    NATIVE_POLICY_BLOCKED = "NATIVE_POLICY_BLOCKED"
    MCP_UNAVAILABLE = "MCP_UNAVAILABLE"
    MCP_BINDING_MISMATCH = "MCP_BINDING_MISMATCH"
    TURN_FIRST_EVENT_TIMEOUT = "TURN_FIRST_EVENT_TIMEOUT"
    TURN_IDLE_TIMEOUT = "TURN_IDLE_TIMEOUT"
    TURN_CANCEL_TIMEOUT = "TURN_CANCEL_TIMEOUT"
    TURN_INTERRUPTED = "TURN_INTERRUPTED"
    UNEXPECTED_NATIVE_INTERACTION = "UNEXPECTED_NATIVE_INTERACTION"
    AGENT_ERROR = "AGENT_ERROR"
    """The agent itself reported an error for this turn (a model that refused, no credit…)."""
    EMPTY_ANSWER = "EMPTY_ANSWER"
    """The agent ended its turn without a word, a tool call or an error."""
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    STORE_CONFLICT = "STORE_CONFLICT"
    CLIENT_COMMAND_CONFLICT = "CLIENT_COMMAND_CONFLICT"
    TRANSPORT_MODE_MISMATCH = "TRANSPORT_MODE_MISMATCH"
    CONTEXT_BUDGET_EXCEEDED = "CONTEXT_BUDGET_EXCEEDED"
    INVALID_ENVELOPE = "INVALID_ENVELOPE"
    UNKNOWN_ACTOR = "UNKNOWN_ACTOR"
    UNKNOWN_TARGET = "UNKNOWN_TARGET"
    UNKNOWN_ROOM = "UNKNOWN_ROOM"
    UNKNOWN_EVENT = "UNKNOWN_EVENT"
    UNKNOWN_TURN = "UNKNOWN_TURN"
    UNKNOWN_MEMORY = "UNKNOWN_MEMORY"
    UNKNOWN_IDENTITY = "UNKNOWN_IDENTITY"
    UNKNOWN_PATH = "UNKNOWN_PATH"
    ROOM_EXISTS = "ROOM_EXISTS"
    ROOM_ARCHIVED = "ROOM_ARCHIVED"
    AGENT_DISABLED = "AGENT_DISABLED"
    SENDER_FIELD_FORBIDDEN = "SENDER_FIELD_FORBIDDEN"
    DUPLICATE_DISPATCH = "DUPLICATE_DISPATCH"
    CAUSAL_CYCLE = "CAUSAL_CYCLE"
    ROOT_TURN_LIMIT_REACHED = "ROOT_TURN_LIMIT_REACHED"
    HOP_LIMIT_REACHED = "HOP_LIMIT_REACHED"
    QUEUE_CAPACITY_REACHED = "QUEUE_CAPACITY_REACHED"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    """One message has cost more tokens than its budget."""
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    STEER_LIMIT_REACHED = "STEER_LIMIT_REACHED"
    SUPERVISION_WATCH_REQUIRED = "SUPERVISION_WATCH_REQUIRED"
    SUPERVISION_STEER_REQUIRED = "SUPERVISION_STEER_REQUIRED"
    SUPERVISION_PAIR_INVALID = "SUPERVISION_PAIR_INVALID"
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN_ORIGIN = "FORBIDDEN_ORIGIN"
    FORBIDDEN_SCOPE = "FORBIDDEN_SCOPE"
    """The token is known but may not do this (a reader's token, a request that changes)."""
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    CONFIG_INVALID = "CONFIG_INVALID"
    """The config file has an error; what the server read before goes on."""
    SHUTTING_DOWN = "SHUTTING_DOWN"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class GroupXError(Exception):
    """Base of all our errors.

    `code` is what programs test; the sentence says what was found, what was expected and what to
    do next; `details` is a small JSON object that may be shown to the caller.
    """

    default_code: ErrorCode = ErrorCode.INTERNAL_ERROR

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details: dict[str, Any] = dict(details or {})


class RefusedError(GroupXError):
    """The request is understood and refused; nothing was changed."""

    default_code = ErrorCode.INVALID_ENVELOPE


class LedgerError(GroupXError):
    """The database cannot be used; accepted data is still on disk."""

    default_code = ErrorCode.STORE_UNAVAILABLE


class LedgerTooNewError(LedgerError):
    """The file was written by a newer program; it was not touched."""


class LedgerCorruptError(LedgerError):
    """SQLite reports a damaged file."""


class LedgerBusyError(LedgerError):
    """Another server holds this database."""


class LedgerDiskError(LedgerError):
    """The disk under the database is full, failed or read-only. It may pass by itself: the same
    change can be tried again."""


class AgentError(GroupXError):
    """An agent program could not start, died, or broke its protocol."""

    default_code = ErrorCode.ADAPTER_START_FAILED


class ConfigError(GroupXError):
    """A setting is wrong: the sentence names the file, the key and what was expected."""


class WorkspaceError(GroupXError):
    """A folder or file of the workspace cannot be used."""


class ServerUnreachableError(GroupXError):
    """No server answers for this workspace."""
