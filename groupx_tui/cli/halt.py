"""Stops the server of a workspace, and only that one.

The request to stop names the workspace and carries its token, and it is sent only to a server that
has proved itself. No signal is ever sent: a process id in a file may be anybody's by now.
"""

from __future__ import annotations

from typing import Final, Literal

from groupx_shared.errors import ServerUnreachableError
from groupx_shared.runtime import remove_runtime
from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics
from groupx_tui.cli.api import Api
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.probe import Probe, probe, process_exists

STOP_S: Final = 15.0
"""The server gives its agents 5 s to end by themselves, then ends them, then closes the ledger."""
SAY_AFTER_S: Final = 1.0
PAUSE_S: Final = 0.05

Halted = Literal["stopped", "stale", "absent"]


def halt(workspace: Workspace, clock: Clock) -> Halted:
    """Stop the server and return what was found: stopped, only a stale runtime file (removed), or
    nothing.

    Raises: CommandError when it cannot be reached to be stopped, or is still stopping after
    `STOP_S`.
    """
    found = probe(workspace)
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
