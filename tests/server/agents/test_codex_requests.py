"""Every question that Codex puts has one answer, at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupx_server.agents.codex_requests import Question, answer_request, read_question
from groupx_server.agents.jsonrpc import JsonRpcPeer, Request

CANCEL = {"decision": "cancel"}


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("item/commandExecution/requestApproval", CANCEL),
        ("item/fileChange/requestApproval", CANCEL),
        ("item/permissions/requestApproval", {"permissions": {}}),
        ("item/tool/requestUserInput", {"answers": {}}),
        ("mcpServer/elicitation/request", {"action": "cancel", "content": None}),
        ("execCommandApproval", {"decision": "abort"}),
        ("applyPatchApproval", {"decision": "abort"}),
    ],
)
def test_a_question_is_answered_in_its_own_shape(method: str, result: dict[str, Any]) -> None:
    line = answer_request(JsonRpcPeer(with_version=False), Request(0, method, {}))
    assert json.loads(line) == {"id": 0, "result": result}


@pytest.mark.parametrize("method", ["item/tool/call", "attestation/generate", "no/such\x1b[2J"])
def test_any_other_request_is_refused(method: str) -> None:
    reply = json.loads(answer_request(JsonRpcPeer(with_version=False), Request("a", method, None)))
    assert reply["id"] == "a"
    assert reply["error"]["code"] == -32601
    assert "\x1b" not in reply["error"]["message"]


@pytest.mark.parametrize(
    ("method", "params", "question"),
    [
        (
            "item/commandExecution/requestApproval",
            {"threadId": "t", "command": "ls"},
            Question("t", "ls", "command approval"),
        ),
        (
            "execCommandApproval",
            {"conversationId": "t", "command": ["ls", "-l", 3]},
            Question("t", "ls -l", "command approval"),
        ),
        (
            "item/tool/requestUserInput",
            {"threadId": "t", "questions": [{"question": "Go?"}, {"question": "Now?"}, 3]},
            Question("t", "Go? Now?", "question"),
        ),
        (
            "item/fileChange/requestApproval",
            {"threadId": "t"},
            Question("t", "file change approval", "file change approval"),
        ),
        ("no/such", {"threadId": "t"}, Question("t", "no/such", "unknown request")),
        ("no/such", None, Question("", "no/such", "unknown request")),
    ],
)
def test_a_question_is_told_in_words(method: str, params: Any, question: Question) -> None:
    assert read_question(Request(0, method, params)) == question
