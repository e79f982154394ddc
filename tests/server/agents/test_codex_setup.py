"""How Codex is started and its threads are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupx_server.agents.base import McpEndpoint, SessionRequest
from groupx_server.agents.codex_setup import (
    ARGUMENTS,
    CodexOptions,
    command_line,
    require_free,
    require_unrestricted,
    thread_params,
)
from groupx_shared.errors import AgentError, ConfigError, ErrorCode

MCP = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")
REQUEST = SessionRequest(cwd=Path("/w"))


def test_a_program_alone_gets_our_arguments() -> None:
    assert command_line([]) == ["codex", *ARGUMENTS]
    assert command_line(["/opt/codex"]) == ["/opt/codex", *ARGUMENTS]
    assert command_line(["my", "codex"]) == ["my", "codex"]
    assert ARGUMENTS[-1] == "app-server"


def test_a_thread_works_without_asking_in_its_folder() -> None:
    assert thread_params(CodexOptions(), REQUEST, None) == {
        "cwd": "/w",
        "approvalPolicy": "never",
        "sandbox": "danger-full-access",
    }


def test_the_rooms_tools_come_with_their_bearer_and_are_required() -> None:
    params = thread_params(CodexOptions(), REQUEST, MCP)
    assert params["config"]["mcp_servers"]["groupx"] == {
        "url": "http://127.0.0.1:1/mcp",
        "http_headers": {"Authorization": "Bearer secret"},
        "required": True,
        "tool_timeout_sec": 120,
    }


def test_a_resumed_thread_is_told_everything_again() -> None:
    params = thread_params(CodexOptions(), REQUEST, MCP, "t")
    fresh = thread_params(CodexOptions(), REQUEST, MCP)
    assert params == {"threadId": "t", "excludeTurns": True, **fresh}


def test_options_go_into_the_thread() -> None:
    options = CodexOptions.read(
        {
            "model": "m",
            "effort": "low",
            "config": {"web_search": "live", "mcp_servers": {"mine": {"url": "u"}}},
        }
    )
    params = thread_params(options, REQUEST, MCP)
    assert params["model"] == "m"
    assert params["config"]["model_reasoning_effort"] == "low"
    assert params["config"]["web_search"] == "live"
    assert sorted(params["config"]["mcp_servers"]) == ["groupx", "mine"]
    assert options.config["mcp_servers"] == {"mine": {"url": "u"}}


@pytest.mark.parametrize(
    "options",
    [
        {"modle": "m"},
        {"model": 3},
        {"effort": ""},
        {"config": []},
        {"mcp_wait_s": -1},
        {"handshake_s": "10"},
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as wrong:
        CodexOptions.read(options)
    assert next(iter(options)) in wrong.value.message


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"requirements": None},
        {"requirements": {}},
        {"requirements": {"allowedApprovalPolicies": None}},
        {"requirements": {"allowedApprovalPolicies": ["never", "on-request"]}},
        {"requirements": {"allowedSandboxModes": ["danger-full-access"]}},
        {"requirements": {"allowedSandboxModes": "read-only"}},
        "odd",
    ],
)
def test_without_explicit_proof_nothing_is_blocked(answer: Any) -> None:
    require_free("Codex", answer)


@pytest.mark.parametrize(
    ("key", "allowed", "wanted"),
    [
        ("allowedApprovalPolicies", ["on-request", {"granular": {}}], "never"),
        ("allowedSandboxModes", ["read-only"], "danger-full-access"),
        ("allowedSandboxModes", [], "danger-full-access"),
    ],
)
def test_a_list_that_lacks_ours_blocks(key: str, allowed: list[Any], wanted: str) -> None:
    with pytest.raises(AgentError) as blocked:
        require_free("Codex", {"requirements": {key: allowed}})
    assert blocked.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
    assert blocked.value.details == {"setting": key, "wanted": wanted}


@pytest.mark.parametrize(
    ("answer", "is_free"),
    [
        ({}, True),
        ({"approvalPolicy": "never", "sandbox": {"type": "dangerFullAccess"}}, True),
        ({"approvalPolicy": "on-request"}, False),
        ({"approvalPolicy": {"granular": {}}}, False),
        ({"approvalPolicy": "never", "sandbox": {"type": "readOnly"}}, False),
    ],
)
def test_a_thread_that_says_it_will_ask_is_not_used(answer: Any, is_free: bool) -> None:
    if is_free:
        require_unrestricted("Codex", answer)
        return
    with pytest.raises(AgentError) as blocked:
        require_unrestricted("Codex", answer)
    assert blocked.value.code is ErrorCode.NATIVE_POLICY_BLOCKED
