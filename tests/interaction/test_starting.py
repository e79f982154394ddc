"""A stop while a server starts: afterwards none runs, whoever began."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from groupx_shared.runtime import read_runtime
from groupx_shared.workspace import Workspace, find_workspace
from groupx_tui.cli import launch
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.halt import halt
from groupx_tui.cli.launch import ensure_server
from groupx_tui.cli.probe import Probe, probe
from groupx_tui.cli.starting import holds_ledger
from support.server_process import ServerProcess

pytestmark = [pytest.mark.process, pytest.mark.slow]
WAIT_S = 20.0


def test_a_server_that_has_its_ledger_and_is_not_ready_yet_is_stopped(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    process = server.spawn()
    workspace = find_workspace(tmp_path)
    look = threading.Event()
    for _ in range(2000):
        if holds_ledger(workspace.data_folder / "groupx.db"):
            break
        look.wait(0.005)
    assert halt(workspace, Clock()) == "stopped"
    assert process.wait(WAIT_S) == 0
    assert read_runtime(workspace) is None


def test_a_start_whose_starter_was_killed_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(launch, "_started", started)
    ServerProcess(tmp_path)
    workspace = find_workspace(tmp_path)

    class Killed(BaseException):
        """The starter ends here."""

    clock = Clock()

    def look(workspace: Workspace) -> Probe:
        if started:
            raise Killed
        return probe(workspace)

    monkeypatch.setattr(launch, "probe", look)
    with pytest.raises(Killed):
        ensure_server(workspace, clock)
    assert read_runtime(workspace) is None
    assert halt(workspace, clock) == "stopped"
    assert started[0].wait(WAIT_S) == 0


def test_starts_and_stops_at_once_end_with_none(tmp_path: Path) -> None:
    ServerProcess(tmp_path)
    workspace = find_workspace(tmp_path)
    words = [sys.executable, "-m", "groupx_tui.cli"]
    begun = [
        subprocess.Popen([*words, what, "--config", str(workspace.config_path)])
        for what in ("start", "stop", "start", "stop")
    ]
    for process in begun:
        assert process.wait(WAIT_S) == 0
    halt(workspace, Clock())
    assert not holds_ledger(workspace.data_folder / "groupx.db")
