"""`groupx serve`, `start`, `stop`, `restart`."""

from __future__ import annotations

import os
import sys

import pytest

from groupx_shared.workspace import Workspace
from groupx_tui.cli import server as commands
from support.cli_run import Groupx
from support.cli_server import CliServer

GONE = 2**22 + 5


def test_serve_becomes_the_server(
    groupx: Groupx, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def become(program: str, words: list[str]) -> None:
        ran.append([program, *words])
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "execv", become)
    result = groupx("serve")
    config = str(workspace.config_path)
    command = [sys.executable, "-P", "-m", "groupx_server", "--config", config, "--foreground"]
    assert ran == [[sys.executable, *command]]
    assert (result.code, "cannot be started" in result.err) == (3, True)


def test_start_is_silent_when_it_runs(groupx: Groupx, server: CliServer) -> None:
    result = groupx("start")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_stop_without_a_server_is_fine(groupx: Groupx) -> None:
    result = groupx("stop")
    assert (result.code, result.out) == (0, "")
    assert "No server runs" in result.err


def test_stop_says_that_a_stale_file_was_removed(groupx: Groupx, server: CliServer) -> None:
    server.publish(pid=GONE)
    server.join()
    result = groupx("stop")
    assert (result.code, "was removed" in result.err) == (0, True)


def test_restart_stops_before_it_starts(
    groupx: Groupx, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(commands, "halt", lambda *_: done.append("halt"))
    monkeypatch.setattr(commands, "ensure_server", lambda *_: done.append("start"))
    assert groupx("restart").code == 0
    assert done == ["halt", "start"]
