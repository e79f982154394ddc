"""Stopping: only what proved itself, waited for, never a signal."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupx_shared.runtime import read_runtime, runtime_path
from groupx_shared.workspace import Workspace
from groupx_tui.cli import halt as halting
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.halt import halt
from support.cli_clock import SteppedClock
from support.cli_server import CliServer
from support.wire_bytes import ByteServer

GONE = 2**22 + 5


@pytest.fixture(autouse=True)
def _no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal other than the question whether a process exists is a failure."""
    kill = os.kill

    def ask_only(pid: int, number: int) -> None:
        assert number == 0
        kill(pid, number)

    monkeypatch.setattr(os, "kill", ask_only)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when its stdin is closed."""
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    yield child
    child.communicate(timeout=5)


def test_nothing_runs(workspace: Workspace) -> None:
    assert halt(workspace, Clock()) == "absent"


@pytest.mark.process
def test_the_server_is_asked_and_waited_for(
    server: CliServer, process: subprocess.Popen[bytes]
) -> None:
    def end(pauses: int) -> None:
        if pauses == 1:
            server.join()
        elif pauses == 2:
            process.communicate(timeout=5)

    server.publish(pid=process.pid)
    server.on_shutdown = lambda: None
    clock = SteppedClock(end)
    assert halt(server.workspace, clock.clock) == "stopped"
    assert len(clock.pauses) == 2
    [(method, path, body)] = server.requests
    assert (method, path) == ("POST", "/api/runtime/shutdown")
    assert body == {"runtimeScopeKey": server.workspace.scope_key}
    assert not runtime_path(server.workspace).exists()


def write_start_file(workspace: Workspace, pid: int) -> Path:
    path = runtime_path(workspace).with_suffix(".start")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    path.write_text(str(pid))
    return path


@pytest.mark.process
def test_a_start_that_goes_on_is_waited_for_and_then_stopped(
    workspace: Workspace, process: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    server = CliServer(workspace)
    server.on_shutdown = lambda: None

    def go_on(pauses: int) -> None:
        if pauses == 25:
            server.publish(pid=process.pid)
        elif pauses == 26:
            server.join()
            process.communicate(timeout=5)

    write_start_file(workspace, process.pid)
    try:
        assert halt(workspace, SteppedClock(go_on).clock) == "stopped"
    finally:
        server.join()
    assert [path for _, path, _ in server.requests] == ["/api/runtime/shutdown"]
    said = f"Waiting: the server (process {process.pid}) is starting, or ending."
    assert said in capsys.readouterr().err


@pytest.mark.process
def test_a_start_that_fails_leaves_nothing_to_stop(
    workspace: Workspace, process: subprocess.Popen[bytes]
) -> None:
    def fail(pauses: int) -> None:
        if pauses == 3:
            process.communicate(timeout=5)

    write_start_file(workspace, process.pid)
    clock = SteppedClock(fail)
    assert halt(workspace, clock.clock) == "absent"
    assert len(clock.pauses) == 3


def test_a_number_of_an_old_start_means_nobody(workspace: Workspace) -> None:
    path = write_start_file(workspace, os.getpid())
    os.utime(path, (0, 0))
    clock = SteppedClock()
    assert halt(workspace, clock.clock) == "absent"
    assert clock.pauses == []


def test_a_server_that_nobody_started_from_here_is_known_by_its_lock(workspace: Workspace) -> None:
    workspace.data_folder.mkdir(exist_ok=True)
    lock = (workspace.data_folder / "groupx.db.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    clock = SteppedClock(lambda pauses: lock.close() if pauses == 2 else None)
    assert halt(workspace, clock.clock) == "absent"
    assert len(clock.pauses) == 2


def test_a_start_that_never_ends_is_told(workspace: Workspace) -> None:
    workspace.data_folder.mkdir(exist_ok=True)
    with (workspace.data_folder / "groupx.db.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CommandError, match="starting, or ending") as caught:
            halt(workspace, SteppedClock().clock)
    assert caught.value.exit_code == ExitCode.STILL_RUNNING


def test_a_stale_file_is_removed(server: CliServer) -> None:
    server.publish(pid=GONE)
    server.join()
    assert halt(server.workspace, Clock()) == "stale"
    assert not runtime_path(server.workspace).exists()


def test_another_program_at_the_address_is_left_alone(server: CliServer) -> None:
    server.scope_key = "f" * 64
    assert halt(server.workspace, Clock()) == "stale"
    assert server.requests == []


def test_a_server_that_does_not_answer_is_left_alone_and_named(
    server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupx_tui.cli.probe.HEALTH_S", 0.05)
    monkeypatch.setattr("groupx_tui.cli.probe.probe.__defaults__", (0.05,))
    with ByteServer(hangs=True) as other:
        server.publish(url=other.url)
        with pytest.raises(CommandError, match=f"kill {os.getpid()}") as caught:
            halt(server.workspace, Clock())
    assert caught.value.exit_code is ExitCode.NO_SERVER


def test_a_server_that_goes_on_is_said_and_given_up(
    server: CliServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halting, "PAUSE_S", 0.6)
    server.on_shutdown = lambda: None
    clock = SteppedClock()
    with pytest.raises(CommandError, match="After 15 s the server") as caught:
        halt(server.workspace, clock.clock)
    assert caught.value.exit_code is ExitCode.STILL_RUNNING
    assert sum(clock.pauses) == pytest.approx(halting.STOP_S)
    assert capsys.readouterr().err.count("Waiting: ") == 1
    assert runtime_path(server.workspace).exists()


def test_a_server_started_meanwhile_ends_the_wait(server: CliServer) -> None:
    def start_another() -> None:
        server.publish(pid=1)

    server.on_shutdown = start_another
    assert halt(server.workspace, SteppedClock().clock) == "stopped"
    runtime = read_runtime(server.workspace)
    assert runtime is not None
    assert runtime.pid == 1
