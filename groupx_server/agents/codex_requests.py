"""Requests that Codex puts to its client, and the answers that let it go on.

Pure. Nobody sits at an agent of GroupX, so every question is answered at once: in its own shape
where one says “no, and stop”, else with a JSON-RPC error, which Codex takes as a failed call.
Invariant: each request has exactly one answer, known or not. The counterpart is `codex.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from groupx_server.agents.jsonrpc import METHOD_NOT_FOUND, JsonRpcPeer, Request
from groupx_server.agents.loose import as_dict, as_list, as_text
from groupx_shared.text import safe_line


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one method is answered, and what a person is told it was."""

    kind: str
    answer: dict[str, Any] | None
    """None: with a JSON-RPC error."""
    title_key: str


_KINDS: Final[dict[str, _Kind]] = {
    "item/commandExecution/requestApproval": _Kind(
        "command approval", {"decision": "cancel"}, "command"
    ),
    "item/fileChange/requestApproval": _Kind(
        "file change approval", {"decision": "cancel"}, "reason"
    ),
    "item/permissions/requestApproval": _Kind("permission request", {"permissions": {}}, "reason"),
    "item/tool/requestUserInput": _Kind("question", {"answers": {}}, "questions"),
    "mcpServer/elicitation/request": _Kind(
        "elicitation", {"action": "cancel", "content": None}, "message"
    ),
    "item/tool/call": _Kind("tool call", None, "tool"),
    # the names that these had in the first version of the protocol
    "execCommandApproval": _Kind("command approval", {"decision": "abort"}, "command"),
    "applyPatchApproval": _Kind("file change approval", {"decision": "abort"}, "reason"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: the thread it belongs to (empty: none) and words for a person."""

    thread_id: str
    title: str
    kind: str


def answer_request(peer: JsonRpcPeer, request: Request) -> bytes:
    """The line that answers a request of Codex."""
    known = _KINDS.get(request.method)
    if known is None or known.answer is None:
        text = f"GroupX does not offer {safe_line(request.method, 80)}"
        return peer.respond_error(request.id, METHOD_NOT_FOUND, text)
    return peer.respond(request.id, known.answer)


def read_question(request: Request) -> Question:
    """What a request of Codex asks."""
    params = as_dict(request.params)
    thread_id = as_text(params.get("threadId")) or as_text(params.get("conversationId"))
    known = _KINDS.get(request.method)
    if known is None:
        return Question(thread_id, request.method, "unknown request")
    return Question(thread_id, _title(params, known.title_key) or known.kind, known.kind)


def _title(params: dict[str, Any], key: str) -> str:
    value = params.get(key)
    if key == "questions":
        asked = (as_text(as_dict(item).get("question")) for item in as_list(value))
        return " ".join(text for text in asked if text)
    if isinstance(value, list):
        return " ".join(word for word in value if isinstance(word, str))
    return as_text(value)
