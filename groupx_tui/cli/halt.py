"""Stops the server of a workspace, and only that one.

A start that goes on is waited for, and then stopped. The request to stop names the workspace and
carries its token, and it is sent only to a server that has proved itself. No signal is ever sent: a
process id in a file may be anybody's by now.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from groupx_shared.errors import ConfigError, ServerUnreachableError
from groupx_shared.runtime import remove_runtime
from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics
from groupx_tui.cli.api import Api
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.probe import Probe, probe, process_exists
from groupx_tui.cli.starting import PAUSE_S, READY_S, StartFile, holds_ledger, start_lock

STOP_S: Final = 15.0
"""The server gives its agents 5 s to end by themselves, then ends them, then closes the ledger."""
SAY_AFTER_S: Final = 1.0

Halted = Literal["stopped", "stale", "absent"]


def halt(workspace: Workspace, clock: Clock) -> Halted:
    """Stop the server and return what was found: stopped, only a stale runtime file (removed), or
    nothing.

    Raises: CommandError when it cannot be reached to be stopped, or is still stopping after
    `STOP_S`.
    """
    with start_lock(workspace, Deadline(clock, READY_S)) as starting:
        found = _settled(workspace, clock, starting)
    if found.runtime is None:
        return "absent"
    pid = found.runtime.pid
    if found.standing == "foreign" or (found.standing == "gone" and not found.is_alive):
        remove_runtime(workspace, pid)
        return "stale"
    if found.standing == "silent":
        raise CommandError(
            f"The server (process {pid}) does not answer, so it cannot be asked to stop. "
            f"If it hangs, end it with “kill {pid}”; nothing accepted is lost.",
            ExitCode.NO_SERVER,
        )
    _ask(workspace, found)
    _wait_until_gone(workspace, pid, clock)
    return "stopped"


def _settled(workspace: Workspace, clock: Clock, starting: StartFile) -> Probe:
    """How the server stands, once a start that goes on has come to its end."""
    deadline, has_said = Deadline(clock, READY_S), False
    database = _database(workspace)
    while True:
        found = probe(workspace)
        if found.runtime is not None:
            return found
        pid = starting.process()
        if pid is None and not holds_ledger(database):
            return probe(workspace)  # it may have become ready between the two looks
        who = "A server" if pid is None else f"The server (process {pid})"
        if deadline.is_over:
            raise CommandError(
                f"{who} of this workspace is starting, or ending, for more than {READY_S:.0f} s "
                "and cannot be asked to stop yet. Look at “groupx logs”.",
                ExitCode.STILL_RUNNING,
            )
        if not has_said and deadline.left() < READY_S - SAY_AFTER_S:
            has_said = True
            diagnostics.say(f"Waiting: {who[0].lower()}{who[1:]} is starting, or ending.")
        deadline.pause(PAUSE_S)


def _database(workspace: Workspace) -> Path:
    from groupx_shared.config import database_path, load_config

    try:
        return database_path(workspace, load_config(workspace))
    except ConfigError:
        return workspace.data_folder / "groupx.db"


def _ask(workspace: Workspace, found: Probe) -> None:
    if found.runtime is None or found.standing in ("closing", "gone"):
        return
    try:
        Api(workspace, found.runtime).shut_down()
    except ServerUnreachableError:
        return  # it was faster; what follows waits for its end


def _wait_until_gone(workspace: Workspace, pid: int, clock: Clock) -> None:
    deadline = Deadline(clock, STOP_S)
    has_said = False
    while True:
        what = _what_is_left(workspace, pid)
        if what is None:
            return
        if deadline.is_over:
            raise CommandError(
                f"After {STOP_S:.0f} s {what}. Look at “groupx logs”; if it hangs, end it with "
                f"“kill {pid}”.",
                ExitCode.STILL_RUNNING,
            )
        if not has_said and deadline.left() < STOP_S - SAY_AFTER_S:
            has_said = True
            diagnostics.say(f"Waiting: {what}.")
        deadline.pause(PAUSE_S)


def _what_is_left(workspace: Workspace, pid: int) -> str | None:
    """What a stop still waits for, in words; None when nothing is left."""
    found = probe(workspace)
    if found.runtime is not None and found.runtime.pid != pid:
        return None  # another server has been started meanwhile
    if found.standing in ("running", "starting", "closing", "silent"):
        return f"the server (process {pid}) is ending its agents and closing the ledger"
    if process_exists(pid):
        return f"process {pid} has not ended"
    if found.runtime is not None:
        remove_runtime(workspace, pid)
    return None
