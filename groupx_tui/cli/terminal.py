"""`groupx` without a command: the full-screen client, or that line by line, loaded only here."""

from __future__ import annotations

import os
import sys

from groupx_shared.ids import MAIN_ROOM
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
    if call.flag("plain") or (os.environ.get("TERM") == "dumb" and output.is_terminal()):
        return _run_plain(call)
    if sys.stdin is None or not sys.stdin.isatty() or not output.is_terminal():
        raise CommandError(
            "The full-screen room needs a terminal. In a script use “groupx send”, “groupx tail” "
            "or another command, or “groupx --plain”; see “groupx --help”.",
            ExitCode.USAGE,
        )
    workspace = workspace_of(call)
    room = call.text("room")
    from groupx_tui.app import run_tui

    return run_tui(workspace, room=None if room is None else room_id(room)) or ExitCode.DONE


def _run_plain(call: Invocation) -> int:
    if sys.stdin is None or sys.stdout is None:
        raise CommandError("The line-by-line room needs an input and an output.", ExitCode.USAGE)
    workspace = workspace_of(call)
    from groupx_tui.plain.client import run_plain

    return run_plain(workspace, room_id(call.text("room") or MAIN_ROOM)) or ExitCode.DONE
