"""`groupx` without a command: the full-screen client, or that line by line, loaded only here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from groupx_shared.ids import MAIN_ROOM
from groupx_shared.runtime import RuntimeFile
from groupx_shared.workspace import Workspace
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
    workspace, elsewhere = _where(call)
    room = None if (name := call.text("room")) is None else room_id(name)
    from groupx_tui.opening import run_tui

    if elsewhere is None:
        return run_tui(workspace, room=room) or ExitCode.DONE
    return run_tui(workspace, room=room, elsewhere=elsewhere) or ExitCode.DONE


def _where(call: Invocation) -> tuple[Workspace, Callable[[], RuntimeFile] | None]:
    """The workspace, and what finds its server when that is not its own."""
    url, token_file = call.text("connect"), call.text("token_file")
    if url is None and token_file is None:
        return workspace_of(call), None
    if url is None or token_file is None:
        raise CommandError("--connect and --token-file go together.", ExitCode.USAGE)
    from groupx_tui.cli.elsewhere import place_of, server_at

    find = server_at(url, Path(token_file).expanduser())
    find()  # what is wrong with the file is said here, not in the window
    return place_of(url), find


def _run_plain(call: Invocation) -> int:
    if sys.stdin is None or sys.stdout is None:
        raise CommandError("The line-by-line room needs an input and an output.", ExitCode.USAGE)
    workspace, elsewhere = _where(call)
    room = room_id(call.text("room") or MAIN_ROOM)
    from groupx_tui.plain.client import run_plain

    if elsewhere is None:
        return run_plain(workspace, room) or ExitCode.DONE
    return run_plain(workspace, room, elsewhere) or ExitCode.DONE
