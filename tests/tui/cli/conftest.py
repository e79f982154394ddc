"""A workspace of its own, a scripted server for it, and `groupx` run inside this process."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_shared.workspace import Workspace, find_workspace
from groupx_tui.cli.main import main
from support.cli_run import Ended, Groupx
from support.cli_server import CliServer
from support.fake_trials import FakeTrials


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project workspace, which is also the current folder; local time is UTC."""
    (tmp_path / "groupx.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    return find_workspace(None)


@pytest.fixture
def server(workspace: Workspace) -> Iterator[CliServer]:
    """A server that runs for the workspace."""
    fake = CliServer(workspace)
    fake.publish()
    yield fake
    fake.join()


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> FakeTrials:
    """Agents are looked at without a child process."""
    return FakeTrials(monkeypatch)


@pytest.fixture
def groupx(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Groupx:
    """Runs `groupx` with words; `stdin` is what is piped in."""

    def run(*words: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(words)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run
