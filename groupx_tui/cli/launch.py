"""Finds the server of a workspace, and starts it in the background when none runs.

One start at a time for each workspace (`starting`): a second client waits and then uses the first
one's server. The server's own lease settles every other race; a loser
here looks for the winner before it complains. Prints nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.runtime import AGENT_VARIABLES, RuntimeFile
from groupx_shared.text import safe_text
from groupx_shared.workspace import Workspace
from groupx_tui.cli.clock import Clock, Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.logfiles import last_lines, start_log
from groupx_tui.cli.probe import Probe, probe, ready
from groupx_tui.cli.starting import PAUSE_S, READY_S, StartFile, start_lock

LEAVING_S: Final = 5.0
"""A server that no longer listens ends within its agents' stop time, mostly at once."""
WINNER_S: Final = 1.0
"""After our start failed: how long to look whether another start won."""
MAX_START_LOG: Final = 256 * 1024
"""What starts printed is kept up to here, then begun anew."""
SERVER_NAME: Final = "groupx-server: "
"""What the server puts before its sentence; ours says the same already."""
_WORDS: Final = 15
"""Lines of what a server said that could not start."""
_TRACE: Final = "Traceback ("

_started: list[subprocess.Popen[bytes]] = []
"""Servers started by this process: kept, so that nobody takes them for forgotten children."""


def ensure_server(workspace: Workspace, clock: Clock) -> RuntimeFile:
    """Return the runtime file of a server that is ready, started if need be.

    Raises: CommandError (exit code 3) when it cannot be started; WorkspaceError.
    """
    if (runtime := ready(probe(workspace))) is not None:
        return runtime
    deadline = Deadline(clock, READY_S)
    with start_lock(workspace, deadline) as starting:
        found = _settled(workspace, deadline)
        return ready(found) or _start(workspace, deadline, clock, starting)


def server_command(workspace: Workspace) -> list[str]:
    """Return the command line that runs the server of `workspace`. `-P` keeps the current folder
    off the module path: a project's own `json.py` must not replace the library's."""
    command = [sys.executable, "-P", "-m", "groupx_server"]
    if workspace.config_path.is_file():
        return [*command, "--config", str(workspace.config_path)]
    return [*command, "--default-workspace"]


def _settled(workspace: Workspace, deadline: Deadline) -> Probe:
    """Wait while a server is starting or on its way out; return how it then stands."""
    leaving_since = deadline.left()
    while True:
        found = probe(workspace)
        is_leaving = found.standing == "closing" or (found.standing == "gone" and found.is_alive)
        if found.standing not in ("starting", "silent") and not is_leaving:
            return found
        if found.standing == "gone" and leaving_since - deadline.left() > LEAVING_S:
            return found  # the process id belongs to somebody else by now
        if deadline.is_over:
            raise CommandError(_stuck(found), ExitCode.NO_SERVER)
        deadline.pause(PAUSE_S)


def _stuck(found: Probe) -> str:
    pid = found.runtime.pid if found.runtime else 0
    return (
        f"The server of this workspace (process {pid}) is {found.standing} and was not ready "
        f"within {READY_S:.0f} s. Look at “groupx logs”; if it hangs, end it with “kill {pid}”."
    )


def _start(
    workspace: Workspace, deadline: Deadline, clock: Clock, starting: StartFile
) -> RuntimeFile:
    log = start_log(workspace)
    private_folder(log.parent)
    before = log.stat().st_size if log.exists() else 0
    if before > MAX_START_LOG:
        log.unlink()
        before = 0
    process = _spawn(workspace, log)
    _started.append(process)
    starting.name(process.pid)
    while not deadline.is_over:
        if (runtime := ready(probe(workspace))) is not None:
            return runtime
        if process.poll() is not None:
            return _winner(workspace, clock, process.returncode, log, before)
        deadline.pause(PAUSE_S)
    raise CommandError(
        f"The server was started (process {process.pid}) but is not ready after {READY_S:.0f} s. "
        f"Its words so far, from {log}:\n{_last_words(log, before)}",
        ExitCode.NO_SERVER,
    )


def _spawn(workspace: Workspace, log: Path) -> subprocess.Popen[bytes]:
    """Start the server as a session of its own: it lives on when this terminal closes."""
    private_folder(workspace.data_folder)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        output = os.open(log, flags, 0o600)
    except OSError as error:
        raise WorkspaceError(f"The log {log} cannot be written: {error.strerror}.") from error
    try:
        return subprocess.Popen(
            server_command(workspace),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=workspace.root,
            env={k: v for k, v in os.environ.items() if k not in AGENT_VARIABLES},
            start_new_session=True,
        )
    except OSError as error:
        raise CommandError(
            f"The server cannot be started: {error.strerror}.", ExitCode.NO_SERVER
        ) from error
    finally:
        os.close(output)


def _winner(
    workspace: Workspace, clock: Clock, returncode: int, log: Path, before: int
) -> RuntimeFile:
    """Our server ended at once: use the one that was faster, else say what ours said."""
    deadline = Deadline(clock, WINNER_S)
    while not deadline.is_over:
        if (runtime := ready(probe(workspace))) is not None:
            return runtime
        deadline.pause(PAUSE_S)
    words = _last_words(log, before)
    said = words or f"It said nothing; its exit code was {returncode}. See {log}."
    raise CommandError(f"The server cannot start.\n{said}", ExitCode.NO_SERVER)


def _last_words(log: Path, before: int) -> str:
    lines = [line.removeprefix(SERVER_NAME) for line in last_lines(log, _WORDS, since=before)]
    said = safe_text("\n".join(lines)).strip()
    if any(line.startswith((_TRACE, "  File ")) for line in lines):  # only its last line tells
        reason = said.rpartition("\n")[2].strip()
        return f"{reason}\nThis is a mistake in GroupX. The whole report is in {log}."
    return said
