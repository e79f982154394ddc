"""`groupx` without a command: the full-screen client, loaded only here."""

from __future__ import annotations

import sys

from groupx_tui.cli import output
from groupx_tui.cli.api import room_id
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of


def run(call: Invocation) -> int:
    """Open the room; with --version print the version instead."""
    if call.flag("version"):
        from groupx_shared.version import VERSION

        output.line(f"groupx {VERSION}")
        return ExitCode.DONE
    if sys.stdin is None or not sys.stdin.isatty() or not output.is_terminal():
        raise CommandError(
            "The full-screen room needs a terminal. In a script use “groupx send”, “groupx tail” "
            "or another command; see “groupx --help”.",
            ExitCode.USAGE,
        )
    workspace = workspace_of(call)
    room = call.text("room")
    from groupx_tui.app import run_tui

    return run_tui(workspace, room=None if room is None else room_id(room)) or ExitCode.DONE
