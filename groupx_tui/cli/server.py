"""`groupx serve`, `start`, `stop`, `restart`."""

from __future__ import annotations

import os

from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.halt import halt
from groupx_tui.cli.launch import ensure_server, server_command
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import connect, workspace_of


def run_serve(call: Invocation) -> int:
    """Become the server: this process is replaced, so signals and the exit code are its own."""
    command = [*server_command(workspace_of(call)), "--foreground"]
    output.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        raise CommandError(
            f"The server cannot be started: {error.strerror}.", ExitCode.NO_SERVER
        ) from error


def run_start(call: Invocation) -> int:
    """Start the server in the background, or find it running; quiet."""
    connect(call)
    return ExitCode.DONE


def run_stop(call: Invocation) -> int:
    """Stop the server; fine when none runs."""
    found = halt(workspace_of(call), Clock())
    if found == "absent":
        diagnostics.say("No server runs for this workspace.")
    elif found == "stale":
        diagnostics.say("No server runs; the file that a crashed one left behind was removed.")
    return ExitCode.DONE


def run_restart(call: Invocation) -> int:
    """Stop the server if it runs, and start it."""
    workspace = workspace_of(call)
    halt(workspace, Clock())
    ensure_server(workspace, Clock())
    return ExitCode.DONE
