"""Process groups: signals to them, whether anybody living is left, and their guardian.

Imports only the standard library, since it is also run alone, by path, as the watchdog's child:
then it reads `add <pgid>` and `del <pgid>` lines from stdin, and when stdin ends (the server is
gone, however it died) every group still listed gets TERM, at most two seconds, then KILL. With a
group goes what its program started and put into groups of their own: that carries the same mark
in its environment, which is read when the group is listed. The child ignores the signals that a
terminal or a service manager sends to everybody at once, since it must outlive the server by those
two seconds. The other half is `watchdog.py`.

A group of zombies counts as gone: where nobody collects orphans (a container without an init)
they stay for ever and can do nothing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TERM_S: Final = 2.0
"""Between TERM and KILL: enough to write a history file, short enough for a person who waits."""
POLL_S: Final = 0.02
PROCESS_MARK: Final = "GROUPX_PROCESS"
"""Environment variable that holds a secret of one agent process."""
_PROC: Final = Path("/proc")
_DEAD_STATES: Final = (b"Z", b"X")


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


def end_groups(groups: set[int]) -> None:
    """TERM, wait, KILL; blocks at most `TERM_S`."""
    left = {pgid for pgid in groups if signal_group(pgid, signal.SIGTERM)}
    deadline = time.monotonic() + TERM_S
    while left and time.monotonic() < deadline:
        time.sleep(POLL_S)
        left = {pgid for pgid in left if group_is_alive(pgid)}
    for pgid in left:
        signal_group(pgid, signal.SIGKILL)


def _is_living_member(entry: Path, pgid: int) -> bool:
    try:
        stat = (entry / "stat").read_bytes()
    except OSError:
        return False
    state, _, group, *_ = stat.rpartition(b")")[2].split()
    return int(group) == pgid and state not in _DEAD_STATES


def marked_groups(wanted: bytes, proc: Path = _PROC) -> Iterator[int]:
    """Groups of our processes whose environment holds `NAME=value`; none without a /proc."""
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


def _mark_of(pid: int) -> bytes | None:
    """The entry of a program's environment that all its children inherit."""
    try:
        entries = _environment(_PROC / str(pid))
    except OSError:
        return None  # no /proc, or it is gone already
    return next((e for e in entries if e.startswith(PROCESS_MARK.encode() + b"=")), None)


def _follow_list() -> dict[int, bytes | None]:
    """Follow the server's list until it goes away; the groups still listed, with their marks."""
    groups: dict[int, bytes | None] = {}
    rest = b""
    while chunk := os.read(0, 65536):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            word, _, number = line.partition(b" ")
            if word == b"add" and number.isdigit():
                groups[int(number)] = _mark_of(int(number))
            elif word == b"del" and number.isdigit():
                groups.pop(int(number), None)
    return groups


def main() -> None:
    """Ignore the signals, follow the list, end what is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    groups = _follow_list()
    marks = [mark for mark in groups.values() if mark is not None]
    strays = {pgid for mark in marks for pgid in marked_groups(mark)}
    end_groups({*groups, *strays})
    for mark in marks:
        for pgid in set(marked_groups(mark)):  # started while the others ended
            signal_group(pgid, signal.SIGKILL)


if __name__ == "__main__":
    main()
