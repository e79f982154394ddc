"""Names for the shell, from a running server."""

from __future__ import annotations

import pytest

from groupx_shared.runtime import runtime_path
from groupx_shared.workspace import Workspace
from groupx_tui.cli import completion
from groupx_tui.cli.main import main
from support.cli_server import CliServer, agent, room


def test_agents_and_rooms_are_offered_by_their_beginning(server: CliServer) -> None:
    server.agents = [agent("kimi"), agent("codex"), agent("kilo\x1b[2J")]
    server.rooms = [room("main"), room("dev")]
    assert completion.agents("k") == ["kilo␛[2J", "kimi"]
    assert completion.rooms("") == ["dev", "main"]


def test_without_a_server_nothing_is_offered_and_none_started(workspace: Workspace) -> None:
    assert completion.agents("") == []


def test_an_error_offers_nothing(server: CliServer) -> None:
    runtime_path(server.workspace).chmod(0o644)
    assert completion.rooms("") == []


def test_a_kind_has_its_completer() -> None:
    assert completion.of(None) is None
    assert completion.of("agents") is completion.agents
    assert completion.of("config") is completion.configured
    assert completion.of("any_agent") is completion.any_agent


def test_agents_of_the_config_and_known_ones_need_no_server(workspace: Workspace) -> None:
    workspace.config_path.write_text('{"agents": {"kimi2": {}, "mine": {}}}')
    assert completion.configured("k") == ["kimi2"]
    assert completion.any_agent("k") == ["kimi", "kimi2"]
    assert completion.drivers("cl") == ["claude", "claude-agent-acp", "cline"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"agents": 5}', '{"agents": null}'])
def test_a_config_with_an_error_offers_nothing(workspace: Workspace, text: str) -> None:
    workspace.config_path.write_text(text)
    assert completion.configured("") == []


def test_the_shell_gets_the_names(
    server: CliServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.agents = [agent("kimi"), agent("codex")]
    monkeypatch.setenv("_GROUPX_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "groupx send --to k")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert main(["send", "--to", "k"]) == 0
    assert capsys.readouterr().out.split() == ["kimi"]
