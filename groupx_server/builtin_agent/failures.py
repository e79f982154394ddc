"""Why a model did not answer, in sentences that say what to do next. Pure.

Every failure of a model ends as one `ModelError`; `kind` tells the turn loop what it may still
try before anything was streamed.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from groupx_server.builtin_agent.endpoint import Endpoint, shown_url
from groupx_shared.errors import ErrorCode, GroupXError
from groupx_shared.text import safe_line

FailureKind = Literal[
    "auth", "rejected", "busy", "unreachable", "dropped", "timeout", "protocol", "empty", "setup"
]

_CONTEXT_WORDS: Final = re.compile(
    r"context.{0,20}(length|window|size)|maximum context|too many tokens|prompt is too long"
    r"|exceeds? the available context",
    re.IGNORECASE,
)
_TOOL_WORDS: Final = re.compile(r"\btools?\b|function.call", re.IGNORECASE)
_STREAM_OPTION_WORDS: Final = re.compile(r"stream_options", re.IGNORECASE)
_AUTH_STATUSES: Final = frozenset({401, 403})
_BUSY_STATUSES: Final = frozenset({408, 425, 429})


class ModelError(GroupXError):
    """The model gave no (whole) answer. `status` is the HTTP status, when there was one."""

    default_code = ErrorCode.AGENT_ERROR

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        reported: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, details={"kind": kind, **({"status": status} if status else {})})
        self.kind = kind
        self.status = status
        self.reported = reported
        self.retry_after_s = retry_after_s

    @property
    def is_transient(self) -> bool:
        """True when the same request may succeed a moment later."""
        return self.kind == "busy"

    @property
    def wants_no_tools(self) -> bool:
        """True when the endpoint says that it cannot take tools."""
        return self._refused and bool(_TOOL_WORDS.search(self.reported))

    @property
    def wants_no_stream_options(self) -> bool:
        """True when the endpoint does not know `stream_options`."""
        return self._refused and bool(_STREAM_OPTION_WORDS.search(self.reported))

    @property
    def wants_less_history(self) -> bool:
        """True when the prompt does not fit the model's window."""
        return self._refused and bool(_CONTEXT_WORDS.search(self.reported))

    @property
    def _refused(self) -> bool:
        return self.kind == "rejected" or (self.status or 0) >= 500


def from_status(
    endpoint: Endpoint, status: int, reported: str, *, retry_after_s: float | None = None
) -> ModelError:
    """The endpoint answered with an HTTP status that is not 200."""
    where = f"{shown_url(endpoint.base_url)} (HTTP {status})"
    kind, sentence = _status_sentence(safe_line(endpoint.model, 80), status)
    return ModelError(
        kind,
        f"The model endpoint {where} {sentence}{_said(reported)}",
        status=status,
        reported=reported,
        retry_after_s=retry_after_s,
    )


def _status_sentence(model: str, status: int) -> tuple[FailureKind, str]:
    """The kind, and what happened and what to do; what the endpoint said comes after it."""
    if status in _AUTH_STATUSES:
        return "auth", (
            "refused the API key. Set GROUPX_MODEL_API_KEY (in the config: model.apiKeyEnv) and "
            "restart the agent."
        )
    if status == 404:
        return "rejected", (
            f"does not know model “{model}”, or has no chat completions. Check GROUPX_MODEL_NAME "
            f"and GROUPX_MODEL_BASE_URL (with Ollama: `ollama pull {model}`)."
        )
    if status in _BUSY_STATUSES:
        return "busy", (
            "is over its limit. Wait a little and send the message again, or use another model."
        )
    if status >= 500:
        return "busy", "has failed. Look at its own log; send the message again when it works."
    if 300 <= status < 400:
        return "rejected", (
            "points to another address, which is not followed. Set GROUPX_MODEL_BASE_URL to the "
            "address itself."
        )
    return "rejected", (
        f"refused the request. Check that model “{model}” exists there and takes a prompt of "
        "this size."
    )


def _said(reported: str) -> str:
    """What the endpoint said, at the end of a sentence, where it may be cut."""
    return f" It said: “{safe_line(reported, 300)}”" if reported.strip() else ""


def unreachable(endpoint: Endpoint, reason: str) -> ModelError:
    """No connection."""
    return ModelError(
        "unreachable",
        f"Nothing answers at {shown_url(endpoint.base_url)}. Start the model server, or change "
        f"GROUPX_MODEL_BASE_URL; /setup says how. ({safe_line(reason, 200)})",
    )


def dropped(endpoint: Endpoint, reason: str, *, streamed: bool) -> ModelError:
    """The connection ended before the answer did."""
    when = "in the middle of the answer" if streamed else "before the answer began"
    kept = " What had arrived is kept." * streamed
    return ModelError(
        "dropped",
        f"The connection to {endpoint.shown} broke {when}.{kept} Send the message again for a new "
        f"answer. ({safe_line(reason, 200)})",
    )


def timed_out(endpoint: Endpoint, timeout_s: float, *, streamed: bool) -> ModelError:
    """The model was silent for too long."""
    kept = " What had arrived is kept." * streamed
    return ModelError(
        "timeout",
        f"{endpoint.shown} was silent for {timeout_s:g} s, so the request was ended.{kept} "
        "Look whether the model server is overloaded, or raise GROUPX_MODEL_TIMEOUT_S.",
    )


def unreadable(endpoint: Endpoint, reason: str) -> ModelError:
    """The endpoint answers, but not as a chat completion."""
    return ModelError(
        "protocol",
        f"{shown_url(endpoint.base_url)} did not answer as an OpenAI-compatible chat endpoint "
        f"({safe_line(reason, 200)}). Check GROUPX_MODEL_BASE_URL.",
    )


def reported_in_stream(endpoint: Endpoint, message: str, status: int | None) -> ModelError:
    """The endpoint reported an error in a reply that had begun as a success."""
    return ModelError(
        "busy" if status == 429 or (status or 0) >= 500 else "rejected",
        f"{endpoint.shown} reported an error: {safe_line(message, 400)}",
        status=status,
        reported=message,
    )


def empty_answer(endpoint: Endpoint, reason: str, *, reasoned: bool) -> ModelError:
    """The model finished without a word."""
    only = " It only reasoned." if reasoned else ""
    return ModelError(
        "empty",
        f"{endpoint.shown} gave an empty answer (finish reason: {safe_line(reason or 'none', 40)})."
        f"{only} Send the message again, or use another model.",
    )
