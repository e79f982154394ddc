"""From a command line to its workspace and server."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupx_tui.cli import launch
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.fastparse import parse
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect, workspace_of
from support.cli_server import CliServer


def call(*words: str) -> Invocation:
    invocation = parse(words)
    assert invocation is not None
    return invocation


def test_a_config_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no config file") as caught:
        workspace_of(call("status", "--config", str(tmp_path / "no.json")))
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_config_can_be_its_folder(tmp_path: Path) -> None:
    (tmp_path / "groupx.json").write_text("{}")
    workspace = workspace_of(call("--config", str(tmp_path), "status"))
    assert workspace.config_path == tmp_path / "groupx.json"


def test_a_running_server_is_used_without_a_start(
    server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "ensure_server", None)
    assert connect(call("start")).runtime == server.runtime()


def test_otherwise_one_is_started(server: CliServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.status = "starting"
    monkeypatch.setattr(launch, "ensure_server", lambda *_: server.runtime(pid=1))
    assert connect(call("start")).runtime.pid == 1
