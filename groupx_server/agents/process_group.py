"""Signals to whole process groups, and whether anybody living is left in one.

Owns nothing. A group of zombies counts as gone: where nobody collects orphans (a container
without an init) they stay for ever and can do nothing. Counterpart: `process.py`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_DEAD_STATES: Final = ("Z", "X")


def signal_group(pgid: int, number: int) -> bool:
    """Signal every process of a group; False when there is nobody to signal."""
    if pgid <= 1:  # 0 is our own group, 1 belongs to the system
        return False
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def group_is_alive(pgid: int) -> bool:
    """True while a process of the group can still run."""
    if not signal_group(pgid, 0):
        return False
    if not (_PROC / "self" / "stat").exists():
        return True  # no /proc (macOS): zombies cannot be told apart
    return any(_is_living_member(e, pgid) for e in _PROC.iterdir() if e.name.isdigit())


def _is_living_member(entry: Path, pgid: int) -> bool:
    try:
        stat = (entry / "stat").read_bytes()
    except OSError:
        return False
    state, _, group, *_ = stat.rpartition(b")")[2].split()
    return int(group) == pgid and state.decode() not in _DEAD_STATES
