"""Who answers at the address of the runtime file."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from groupx_shared.errors import ServerUnreachableError, WorkspaceError
from groupx_shared.runtime import runtime_path, write_runtime
from groupx_shared.workspace import Workspace
from groupx_tui.cli.diagnostics import CommandError
from groupx_tui.cli.probe import probe, process_exists, ready
from support.cli_server import CliServer
from support.wire_bytes import ByteServer

GONE = 2**22 + 5
"""Larger than any process id of Linux."""


def test_without_a_runtime_file_there_is_none(workspace: Workspace) -> None:
    found = probe(workspace)
    assert (found.standing, found.is_alive, ready(found)) == ("absent", False, None)


def test_a_server_proves_itself_and_no_token_goes_out_before(server: CliServer) -> None:
    found = probe(server.workspace)
    assert (found.standing, found.is_alive) == ("running", True)
    assert ready(found) == server.runtime()
    assert server.requests == []


@pytest.mark.parametrize("status", ["starting", "closing"])
def test_a_server_that_is_not_ready_says_so(server: CliServer, status: str) -> None:
    server.status = status
    found = probe(server.workspace)
    assert (found.standing, ready(found)) == (status, None)


def test_a_degraded_server_can_be_used(server: CliServer) -> None:
    server.status = "degraded"
    assert ready(probe(server.workspace)) is not None


def test_another_workspaces_server_is_foreign(server: CliServer) -> None:
    server.scope_key = "f" * 64
    assert probe(server.workspace).standing == "foreign"


def test_another_program_is_foreign(server: CliServer) -> None:
    with ByteServer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") as other:
        server.publish(url=other.url)
        assert probe(server.workspace).standing == "foreign"


@pytest.mark.parametrize("words", [b"SSH-2.0\r\n", b""])
def test_what_speaks_no_http_is_no_server(server: CliServer, words: bytes) -> None:
    with ByteServer(words) as other:
        server.publish(url=other.url)
        assert probe(server.workspace).standing == "gone"


def test_a_server_that_does_not_answer_is_silent(server: CliServer) -> None:
    with ByteServer(hangs=True) as other:
        server.publish(url=other.url)
        assert probe(server.workspace, 0.05).standing == "silent"


def test_a_crashed_server_is_gone(server: CliServer) -> None:
    server.publish(pid=GONE)
    server.join()
    found = probe(server.workspace)
    assert (found.standing, found.is_alive) == ("gone", False)


def test_another_protocol_is_named_with_what_to_do(server: CliServer) -> None:
    server.protocol = "groupx.runtime/99"
    with pytest.raises(CommandError, match="groupx restart"):
        ready(probe(server.workspace))


def test_a_token_that_others_can_read_is_refused(server: CliServer) -> None:
    runtime_path(server.workspace).chmod(0o644)
    with pytest.raises(WorkspaceError, match="chmod 600"):
        probe(server.workspace)


def test_a_damaged_runtime_file_is_named(server: CliServer) -> None:
    write_runtime(server.workspace, server.runtime()).write_text("{")
    with pytest.raises(ServerUnreachableError, match="damaged"):
        probe(server.workspace)


def test_processes_exist_or_not() -> None:
    assert process_exists(os.getpid())
    assert process_exists(1)
    assert not process_exists(GONE)
    assert not process_exists(0)
    assert not process_exists(-1)


@pytest.mark.process
def test_a_dead_process_that_nobody_collected_does_not_exist() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        process.stdout.read()
    # Its output is at its end a moment before the process is; waitid looks without collecting.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not process_exists(process.pid)
    process.wait(5)
