"""`groupx assistant`: the answer on stdout as it comes, what it does on stderr, every ending."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupx_shared.workspace import Workspace
from support.cli_run import Groupx
from support.cli_server import CliServer

AT = "2026-11-03T14:03:21.000Z"
ACT = {"actId": "act_1", "tool": "send", "summary": "to kimi: look\x1b[2J", "occurredAt": AT}


def request(**changes: Any) -> dict[str, Any]:
    return {
        "messageId": "side_1",
        "role": "user",
        "content": "what now",
        "createdAt": AT,
        "status": "running",
        "acts": [],
    } | changes


def answer(content: str) -> dict[str, Any]:
    return {
        "messageId": "side_2",
        "role": "assistant",
        "content": content,
        "createdAt": AT,
        "requestId": "side_1",
        "acts": [],
    }


def told(message: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "message": message}


def piece(offset: int, text: str) -> dict[str, Any]:
    return {"type": "delta", "requestId": "side_1", "offset": offset, "text": text}


@pytest.fixture
def asked(server: CliServer) -> CliServer:
    """A server whose assistant takes a request."""
    reply = {"request": request(status="queued"), "position": 0}
    server.replies["POST", "/api/assistant/messages"] = (202, reply)
    return server


def ended(content: str = "hello", **changes: Any) -> list[dict[str, Any]]:
    return [told(request(**({"status": "completed"} | changes))), told(answer(content))]


def test_the_answer_is_printed_as_it_comes_and_acts_are_narrated(
    groupx: Groupx, asked: CliServer
) -> None:
    asked.side = [[piece(0, "hel"), told(request(acts=[ACT])), piece(3, "lo"), *ended(acts=[ACT])]]
    result = groupx("assistant", "ask", "what now", "--room", "dev")
    assert (result.code, result.out) == (0, "hello\n")
    assert "\x1b" not in result.err
    assert result.err.count("to kimi") == 1
    [body] = [body for method, path, body in asked.requests if method == "POST"]
    assert body is not None
    assert (body["content"], body["roomId"]) == ("what now", "room:dev")


def test_control_characters_of_an_answer_never_reach_the_terminal(
    groupx: Groupx, asked: CliServer
) -> None:
    asked.side = [[piece(0, "a\x1b]0;x\x07b"), *ended("a\x1b]0;x\x07b")]]
    assert "\x1b" not in groupx("assistant", "ask", "x").out


def test_after_a_break_it_goes_on_where_it_was(groupx: Groupx, asked: CliServer) -> None:
    asked.side = [[piece(0, "hel")], [piece(0, "hello"), *ended()]]
    result = groupx("assistant", "ask", "what now")
    assert (result.code, result.out) == (0, "hello\n")
    assert "Waiting for the server" in result.err


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [("failed", 1, "failed"), ("cancelled", 1, "was cancelled"), ("interrupted", 5, "interrupted")],
)
def test_how_it_ended_is_the_exit_code_and_said_with_the_reason(
    groupx: Groupx, asked: CliServer, status: str, code: int, words: str
) -> None:
    asked.side = [[told(request(status=status, errorMessage="no\x1b credit"))]]
    result = groupx("assistant", "ask", "what now")
    assert (result.code, result.out) == (code, "")
    assert words in result.err
    assert "\x1b" not in result.err


def test_json_is_one_object_at_the_end(groupx: Groupx, asked: CliServer) -> None:
    asked.side = [[piece(0, "hello"), *ended(acts=[ACT])]]
    result = groupx("assistant", "ask", "what now", "--json")
    found = json.loads(result.out)
    assert found["answer"]["content"] == "hello"
    assert found["request"]["status"] == "completed"
    assert found["request"]["acts"][0]["tool"] == "send"


def test_without_an_assistant_the_servers_advice_is_said(groupx: Groupx, server: CliServer) -> None:
    error = {"code": "AGENT_DISABLED", "message": "Off. Switch it on with “groupx assistant use”."}
    server.replies["POST", "/api/assistant/messages"] = (409, {"error": error})
    result = groupx("assistant", "ask", "hello")
    assert (result.code, result.out) == (6, "")
    assert "groupx assistant use" in result.err


def test_the_time_limit_leaves_the_request_and_says_how_to_find_it(
    groupx: Groupx, asked: CliServer
) -> None:
    result = groupx("assistant", "ask", "what now", "--timeout", "0")
    assert result.code == 4
    assert "groupx assistant cancel side_1" in result.err


def test_the_history_is_printed_with_what_was_done(groupx: Groupx, server: CliServer) -> None:
    page = {
        "messages": [request(status="failed", errorMessage="no credit", acts=[ACT]), answer("hi")],
        "nextBefore": "side_0",
    }
    server.replies["GET", "/api/assistant/messages"] = (200, page)
    result = groupx("assistant", "history", "-n", "5", "--before", "side_9")
    assert "You · failed · side_1\n  what now\n  · to kimi: look" in result.out
    assert "(no credit)" in result.out
    assert "\x1b" not in result.out
    assert "--before side_0" in result.err
    assert server.requests[-1][1] == "/api/assistant/messages?limit=5&before=side_9"
    assert json.loads(groupx("assistant", "history", "--json").out) == page


def test_cancel_clear_and_status_say_what_they_did(groupx: Groupx, server: CliServer) -> None:
    done = {"accepted": True, "requestId": "side_1", "status": "cancelled"}
    server.replies["POST", "/api/assistant/cancel"] = (202, done)
    assert groupx("assistant", "cancel", "side_1").err == "The request is cancelled.\n"
    assert server.requests[-1][2] is not None
    assert server.requests[-1][2]["requestId"] == "side_1"
    server.replies["POST", "/api/assistant/cancel"] = (202, {"accepted": False})
    assert groupx("assistant", "cancel").err == "There was nothing to cancel.\n"
    server.replies["POST", "/api/assistant/clear"] = (200, {"removed": 4})
    assert groupx("assistant", "clear").err.startswith("Forgotten: 4 messages")
    status = {"enabled": True, "name": "Helper", "status": "ready", "driver": "codex"}
    server.replies["GET", "/api/assistant"] = (200, status)
    assert groupx("assistant", "status").out == "Helper (codex): ready\n"


def test_use_writes_the_config_and_off_switches_it_off(
    groupx: Groupx, workspace: Workspace
) -> None:
    result = groupx("assistant", "use", "acp", "--command", "my-brain --acp", "--name", "Ada")
    assert result.code == 0
    written = json.loads(workspace.config_path.read_text("utf-8"))
    assert written["assistant"] == {
        "enabled": True,
        "name": "Ada",
        "brain": {"driver": "acp", "command": "my-brain --acp"},
    }
    assert groupx("assistant", "use", "--off").code == 0
    written = json.loads(workspace.config_path.read_text("utf-8"))
    assert written["assistant"]["enabled"] is False
    assert written["assistant"]["brain"]["driver"] == "acp"


@pytest.mark.parametrize("words", [(), ("codx",), ("acp",)])
def test_use_refuses_what_cannot_be_started(
    groupx: Groupx, workspace: Workspace, words: tuple[str, ...]
) -> None:
    before = workspace.config_path.read_text("utf-8")
    result = groupx("assistant", "use", *words)
    assert result.code == 2
    assert workspace.config_path.read_text("utf-8") == before
