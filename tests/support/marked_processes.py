"""Processes that carry a mark in their environment, wherever in the process tree they are.

Linux only: reads /proc. The mark is inherited, so it finds what an agent's tools started too, and
what left its group or its session.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Marked:
    """One process that lives."""

    pid: int
    parent: int
    command: str


def marked(variable: str, value: str) -> list[Marked]:
    """All living processes whose environment, or working folder or arguments, hold the mark."""
    wanted = f"{variable}={value}".encode()
    found = []
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(_read(folder))
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            continue  # it ended meanwhile, or is not ours
    return [process for process in found if process is not None]


def _read(folder: Path) -> Marked | None:
    status = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    state, parent = status.rpartition(")")[2].split()[:2]
    if state == "Z":
        return None  # it ended; its parent has not looked yet
    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return Marked(int(folder.name), int(parent), command.strip())
