"""No agent outlives the server, even one killed with SIGKILL.

Owns one small child (`process_group.py`) and the pipe to it. Process groups are announced when
they start and withdrawn when they are gone; when the pipe closes, for whatever reason, the child
ends the groups that are left. Invariant: `add` returns only after the line is in the pipe, so a
group is covered before its program can be told to do anything. If the child itself was killed,
the next `add` starts another and tells it everything again. Why a child and not a signal of the
kernel: docs/adr/0006-watchdog-pipe.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, Protocol

from groupx_server.agents.process import Sidecar, start_sidecar
from groupx_server.logs import get_logger

_PROGRAM: Final = Path(__file__).with_name("process_group.py")
_CLOSE_S: Final = 3.0
"""The child waits at most 2 s for groups that ignore TERM, then is done."""

log = get_logger(__name__)


class Guard(Protocol):
    """Something that ends process groups should the server die."""

    def add(self, pgid: int) -> None:
        """Cover a group from now on."""
        ...

    def remove(self, pgid: int) -> None:
        """The group is gone."""
        ...


class Watchdog:
    """The server's one guard. Starts its child with the first group; `close` at the end."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._child: Sidecar | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the child, for diagnostics."""
        return self._child.pid if self._child else None

    def add(self, pgid: int) -> None:
        """Cover a process group from now on."""
        self._groups.add(pgid)
        if self._child is None or not self._child.write(_line("add", pgid)):
            self._start()

    def remove(self, pgid: int) -> None:
        """The group is gone; its number may be used again by anybody."""
        self._groups.discard(pgid)
        if self._child is not None:
            self._child.write(_line("del", pgid))

    async def close(self) -> None:
        """Close the pipe: the child ends what is still listed and exits. Waits, bounded."""
        child, self._child = self._child, None
        if child is not None:
            await child.close(_CLOSE_S)

    def _start(self) -> None:
        argv = [sys.executable, "-I", "-S", os.fspath(_PROGRAM)]
        if self._child is not None:
            log.warning("watchdog_restarted", pid=self._child.pid)
            self._child.discard()
            self._child = None
        try:
            self._child = start_sidecar(argv)
        except OSError as error:  # agents can work without it; the next one tries again
            log.error("watchdog_not_started", reason=str(error))
            return
        for pgid in self._groups:
            self._child.write(_line("add", pgid))


def _line(word: str, pgid: int) -> bytes:
    return f"{word} {pgid}\n".encode()
