"""Starting the server in the background, with a real process that plays the server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import support.cli_server
from groupx_shared.errors import WorkspaceError
from groupx_shared.runtime import RuntimeFile, read_runtime
from groupx_shared.workspace import Workspace, default_workspace
from groupx_tui.cli import launch
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.halt import halt
from groupx_tui.cli.logfiles import start_log
from groupx_tui.cli.probe import Probe, probe
from support.cli_clock import SteppedClock
from support.cli_server import CliServer

FAKE = [sys.executable, support.cli_server.__file__]
WAIT_S = 5.0


@pytest.fixture
def fake_program(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is started is the fake; whatever runs at the end is stopped and collected."""
    command = [*FAKE, "--config", str(workspace.config_path)]
    monkeypatch.setattr(launch, "server_command", lambda _: command)
    started: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(launch, "_started", started)
    yield
    halt(workspace, Clock())
    for process in started:
        process.wait(WAIT_S)


def starts(workspace: Workspace) -> list[str]:
    return (workspace.data_folder / "starts").read_text().splitlines()


def test_a_running_server_is_used(server: CliServer) -> None:
    assert launch.ensure_server(server.workspace, Clock()) == server.runtime()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("fake_program")
def test_a_server_is_started_as_a_session_of_its_own(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = launch.ensure_server(workspace, Clock())
    assert runtime == read_runtime(workspace)
    assert os.getsid(runtime.pid) == runtime.pid
    [line] = starts(workspace)
    assert line.split()[1] == str(workspace.root)
    assert capfd.readouterr() == ("", "")


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("fake_program")
def test_simultaneous_starts_use_one_server(workspace: Workspace) -> None:
    found: list[RuntimeFile] = []

    def start() -> None:
        found.append(launch.ensure_server(workspace, Clock()))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(starts(workspace)) == 1


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("fake_program")
def test_whoever_loses_the_lease_uses_the_winner(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(workspace: Workspace) -> Probe:
        """Blind until the second start has ended."""
        is_blind = len(launch._started) < 2 or launch._started[1].poll() is None
        return Probe("absent") if is_blind else probe(workspace)

    winner = launch.ensure_server(workspace, Clock())
    monkeypatch.setattr(launch, "probe", look)
    assert launch.ensure_server(workspace, Clock()) == winner
    assert launch._started[1].returncode == 3


@pytest.mark.process
@pytest.mark.usefixtures("fake_program")
def test_a_server_that_cannot_start_is_quoted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_FAKE", "broken")
    monkeypatch.setattr(launch, "WINNER_S", 0.05)
    start_log(workspace).parent.mkdir(parents=True)
    start_log(workspace).write_text("words of an earlier start\n")
    with pytest.raises(CommandError) as caught:
        launch.ensure_server(workspace, Clock())
    assert caught.value.exit_code is ExitCode.NO_SERVER
    assert caught.value.message == (
        "The server cannot start.\nThe database ␛[31m/x/groupx.db is damaged."
    )


@pytest.mark.process
@pytest.mark.usefixtures("fake_program")
def test_of_a_mistake_in_the_server_only_its_reason_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_FAKE", "raises")
    monkeypatch.setattr(launch, "WINNER_S", 0.05)
    with pytest.raises(CommandError) as caught:
        launch.ensure_server(workspace, Clock())
    assert caught.value.message == (
        "The server cannot start.\nRuntimeError: nobody thought of ␛[2Jthis\n"
        f"This is a mistake in GroupX. The whole report is in {start_log(workspace)}."
    )


@pytest.mark.process
@pytest.mark.usefixtures("fake_program")
def test_an_overlong_log_of_starts_is_begun_anew(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPX_FAKE", "broken")
    monkeypatch.setattr(launch, "WINNER_S", 0.05)
    start_log(workspace).parent.mkdir(parents=True)
    start_log(workspace).write_text("x" * (launch.MAX_START_LOG + 1))
    with pytest.raises(CommandError, match="damaged"):
        launch.ensure_server(workspace, Clock())
    assert start_log(workspace).stat().st_size < 200


@pytest.mark.process
@pytest.mark.usefixtures("fake_program")
def test_a_program_that_is_not_there_is_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "server_command", lambda _: ["/no/such/python"])
    with pytest.raises(CommandError, match="No such file"):
        launch.ensure_server(workspace, Clock())


@pytest.mark.process
@pytest.mark.usefixtures("fake_program")
def test_a_server_that_never_gets_ready_is_given_up(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = [sys.executable, "-c", "import sys; sys.stdin = open(0); input()"]
    monkeypatch.setattr(launch, "server_command", lambda _: [*sleeper])
    monkeypatch.setattr(launch, "probe", lambda _: Probe("absent"))
    clock = SteppedClock()
    monkeypatch.setattr(subprocess.Popen, "poll", lambda self: None)
    with pytest.raises(CommandError, match="not ready after 20 s"):
        launch.ensure_server(workspace, clock.clock)
    assert sum(clock.pauses) == pytest.approx(20.0)


def test_a_starting_server_is_waited_for(server: CliServer) -> None:
    def get_ready(pauses: int) -> None:
        if pauses == 3:
            server.status = "ok"

    server.status = "starting"
    clock = SteppedClock(get_ready)
    assert launch.ensure_server(server.workspace, clock.clock) == server.runtime()
    assert len(clock.pauses) == 3


def test_a_server_that_stays_stuck_is_named(
    server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "PAUSE_S", 1.0)
    server.status = "closing"
    with pytest.raises(CommandError, match=f"kill {os.getpid()}"):
        launch.ensure_server(server.workspace, SteppedClock().clock)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("fake_program")
def test_a_process_id_that_was_given_to_another_is_not_waited_for_long(
    server: CliServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.join()
    monkeypatch.setattr(launch, "LEAVING_S", 0.05)
    assert launch.ensure_server(server.workspace, Clock()).pid != os.getpid()


def test_a_folder_that_cannot_be_written_is_named(workspace: Workspace) -> None:
    workspace.data_folder.mkdir()
    (workspace.data_folder / "logs").write_text("not a folder")
    with pytest.raises(WorkspaceError, match="logs cannot be used"):
        launch.ensure_server(workspace, Clock())


def test_the_command_line_of_the_server(workspace: Workspace) -> None:
    command = [sys.executable, "-P", "-m", "groupx_server"]
    assert launch.server_command(workspace) == [
        *(*command, "--config", str(workspace.config_path)),
    ]
    assert launch.server_command(default_workspace()) == [*command, "--default-workspace"]
