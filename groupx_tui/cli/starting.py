"""Starts of one workspace's server, one at a time, and what is known of one that goes on.

A lock file beside the runtime file: whoever starts a server, or stops it, holds its lock. In it is
the process that was started last, so that a stop finds a server that is not ready yet even when
whoever started it was killed. Counterparts: `launch` and `halt`; the server's own lock of its
ledger, which tells of servers that nobody started from here.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from groupx_shared.errors import WorkspaceError
from groupx_shared.paths import private_folder
from groupx_shared.runtime import runtime_path
from groupx_shared.workspace import Workspace
from groupx_tui.cli.clock import Deadline
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.probe import process_exists

READY_S: Final = 20.0
"""A start takes about half a second; a large upgrade of an old database may take this long."""
PAUSE_S: Final = 0.05
_MAX_BYTES: Final = 32


class StartFile:
    """The lock file, while its lock is held."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def name(self, pid: int) -> None:
        """Write down which process was started."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(pid).encode(), 0)

    def process(self) -> int | None:
        """The process that was started a short while ago and still runs; None when there is none.
        An older number may be anybody's by now."""
        if time.time() - os.fstat(self._descriptor).st_mtime > READY_S:
            return None
        text = os.pread(self._descriptor, _MAX_BYTES, 0)
        pid = int(text) if text.isdigit() else 0
        return pid if process_exists(pid) else None


@contextmanager
def start_lock(workspace: Workspace, deadline: Deadline) -> Iterator[StartFile]:
    """Hold the start lock of `workspace`; the kernel frees it when this process ends.

    Raises: CommandError when another start goes on too long; WorkspaceError."""
    path = runtime_path(workspace).with_suffix(".start")
    private_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WorkspaceError(f"The file {path} cannot be written: {error.strerror}.") from error
    try:
        while not _locked(descriptor):
            if deadline.is_over:
                raise CommandError(
                    f"Another start of this server has been going on for {READY_S:.0f} s. "
                    "Look at “groupx logs”.",
                    ExitCode.NO_SERVER,
                )
            deadline.pause(PAUSE_S)
        yield StartFile(descriptor)
    finally:
        os.close(descriptor)


def holds_ledger(database: Path) -> bool:
    """Whether a server has the lock of this database file: one that starts, runs, or ends."""
    try:
        descriptor = os.open(f"{database}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False  # none was ever here
    try:
        return not _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
