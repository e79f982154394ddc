"""Processes without a master, found by a mark in their environment.

Agents of a killed server: the watchdog ends agents when the server dies; this covers the case that
the watchdog was killed too. Every agent carries a mark of the ledger's file in its environment.
Whoever holds that file's lease knows that no other server runs it, so a process with this mark has
no master any more. Children of a killed agent that had left its group carry the mark of that one
process.
Linux only (/proc); elsewhere nothing is found.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

from groupx_server.agents.process_group import PROCESS_MARK, marked_groups, signal_group

MARK: Final = "GROUPX_LEDGER"
"""Environment variable that names the ledger's file (`Ledger.lease_mark`)."""


def sweep(mark: str, proc: Path = Path("/proc")) -> list[int]:
    """End the process groups of all processes marked with `mark`; return their ids.

    Call it only while holding the ledger's lease.
    """
    return _end_marked(f"{MARK}={mark}", proc)


def sweep_process(mark: str, proc: Path = Path("/proc")) -> list[int]:
    """End the process groups of what a dead agent process left behind; return their ids."""
    return _end_marked(f"{PROCESS_MARK}={mark}", proc)


def _end_marked(variable: str, proc: Path) -> list[int]:
    groups = {group for group in marked_groups(variable.encode(), proc) if group != os.getpgid(0)}
    return [group for group in sorted(groups) if signal_group(group, signal.SIGKILL)]
