"""How a Claude Code process is started."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from groupx_server.agents.base import McpEndpoint
from groupx_server.agents.claude_setup import (
    ClaudeOptions,
    mcp_config_file,
    session_argv,
    session_env,
)
from groupx_shared.errors import AgentError, ConfigError

TOOLS = McpEndpoint("groupx", "http://127.0.0.1:1/mcp", "secret")


def test_a_new_session_and_an_old_one_differ_in_one_flag() -> None:
    new = session_argv(["claude", "--model", "x"], "id-1", resume=False, mcp_config=None)
    old = session_argv(["claude"], "id-1", resume=True, mcp_config=Path("/t.json"))
    assert new == [
        "claude",
        "--model",
        "x",
        "--print",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--include-partial-messages",
        "--permission-mode",
        "bypassPermissions",
        "--session-id",
        "id-1",
    ]
    assert old[-4:] == ["--mcp-config", "/t.json", "--resume", "id-1"]


def test_the_settings_of_the_agent_go_over_our_environment() -> None:
    env = session_env({"DISABLE_AUTOUPDATER": "0", "MINE": "1"}, is_root=False)
    assert env["DISABLE_AUTOUPDATER"] == "0"
    assert env["MINE"] == "1"
    assert env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] == "1"
    assert "IS_SANDBOX" not in env


def test_only_root_says_that_it_is_in_a_sandbox() -> None:
    assert session_env({}, is_root=True)["IS_SANDBOX"] == "1"
    assert session_env({"IS_SANDBOX": ""}, is_root=True)["IS_SANDBOX"] == ""


def test_the_token_of_the_tools_is_in_a_file_of_ours_that_goes_away() -> None:
    with mcp_config_file(TOOLS) as path:
        assert path is not None
        assert path.stat().st_mode & 0o777 == 0o600
        assert json.loads(path.read_text("utf-8")) == {
            "mcpServers": {
                "groupx": {
                    "type": "http",
                    "url": "http://127.0.0.1:1/mcp",
                    "headers": {"Authorization": "Bearer secret"},
                    "alwaysLoad": True,
                }
            }
        }
    assert not path.exists()


def test_the_file_goes_away_although_the_start_failed() -> None:
    with pytest.raises(RuntimeError), mcp_config_file(TOOLS) as path:
        raise RuntimeError
    assert path is not None
    assert not path.exists()


def test_without_tools_there_is_no_file() -> None:
    with mcp_config_file(None) as path:
        assert path is None


def test_a_file_that_cannot_be_written_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(AgentError, match="TMPDIR"), mcp_config_file(TOOLS):
        pass


@pytest.mark.parametrize(
    ("options", "wrong"), [({"handshake": 1}, "handshake"), ({"handshake_s": -1}, "handshake_s")]
)
def test_a_wrong_option_names_the_key(options: dict[str, object], wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        ClaudeOptions.read(options)
