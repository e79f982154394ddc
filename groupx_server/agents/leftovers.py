"""Agents of a killed server that are still there at the next start.

The watchdog ends agents when the server dies; this covers the case that the watchdog was killed
too. Every agent carries the ledger's id in its environment. Whoever holds that ledger's lease
knows that no other server runs it, so a process with this mark has no master any more. Linux only
(/proc); elsewhere nothing is found.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from groupx_server.agents.process_group import signal_group

MARK: Final = "GROUPX_LEDGER"
"""Environment variable that holds the ledger's id."""


def sweep(ledger_id: str, proc: Path = Path("/proc")) -> list[int]:
    """End the process groups of all processes marked with `ledger_id`; return their ids.

    Call it only while holding the ledger's lease.
    """
    groups = {group for group in _marked_groups(ledger_id, proc) if group != os.getpgid(0)}
    return [group for group in sorted(groups) if signal_group(group, signal.SIGKILL)]


def _marked_groups(ledger_id: str, proc: Path) -> Iterator[int]:
    wanted = f"{MARK}={ledger_id}".encode()
    for folder in proc.iterdir() if proc.is_dir() else ():
        if not folder.name.isdecimal():
            continue
        try:
            if folder.stat().st_uid == os.getuid() and wanted in _environment(folder):
                yield os.getpgid(int(folder.name))
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            continue  # it ended meanwhile, or is not ours


def _environment(folder: Path) -> list[bytes]:
    return (folder / "environ").read_bytes().split(b"\0")
