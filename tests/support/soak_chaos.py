"""The killer of a soak: SIGKILL for the server and its agents, at random moments and named ones."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from support.server_process import ServerProcess
from support.soak_load import Site

POINTS: Final = (
    ("writer.before_commit", 400),
    ("writer.after_commit", 400),
    ("claim.before_commit", 40),
    ("prompt.before_send", 40),
    ("native_started.before_commit", 40),
    ("turn.after_started", 40),
    ("terminal.after_response", 40),
    ("terminal.after_commit", 40),
    ("cancel.before_commit", 6),
    ("receipt.before_commit", 60),
)
"""Named points, each with the highest pass at which it may kill."""

STEP_S: Final = 0.02
DEADLY_S: Final = 5.0
"""How long a server with an armed point may live before it is killed by hand."""


class Killer(threading.Thread):
    """Kills until it is enough; the server runs at the end."""

    def __init__(
        self, server: ServerProcess, site: Site, seed: int, is_enough: Callable[[int], bool]
    ) -> None:
        super().__init__(name="killer", daemon=True)
        self.kills: Counter[str] = Counter()
        self.down_s: list[float] = []
        """From each death of the server to the next one being ready."""
        self._server = server
        self._site = site
        self._random = random.Random(seed)
        self._is_enough = is_enough

    @property
    def count(self) -> int:
        return sum(self.kills.values())

    def run(self) -> None:
        try:
            while not self._is_enough(self.count):
                time.sleep(self._random.uniform(0.1, 1.0))
                if self._random.random() < 0.5:
                    self._kill_agent()
                else:
                    self._kill_server()
        except Exception as error:  # noqa: BLE001 - a thread's end: the judge must know of it
            self._site.faults.append(f"the killer broke: {error!r}")

    def _kill_agent(self) -> None:
        assert self._server.process is not None
        pids = agents_of(self._server.process.pid)
        if not pids:
            return
        try:
            os.kill(self._random.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            return  # it ended by itself
        self.kills["agent"] += 1

    def _kill_server(self) -> None:
        process = self._server.process
        assert process is not None
        self._site.runtime = None
        self.kills["server" if process.poll() is None else "server at a named point"] += 1
        process.kill()
        process.wait()
        died = time.monotonic()
        point = self._point() if self._random.random() < 0.4 else None
        self._start(point)
        self.down_s.append(time.monotonic() - died)
        if point is not None:
            self._await_death()

    def _point(self) -> str:
        name, passes = self._random.choice(POINTS)
        return f"{name}:{self._random.randint(1, passes)}"

    def _start(self, point: str | None) -> None:
        try:
            self._site.runtime = self._server.start(point)
        except AssertionError:
            if self._server.process is None or self._server.process.poll() != -signal.SIGKILL:
                raise  # it could not start
            self.kills["server at a named point"] += 1
            self._site.runtime = self._server.start()

    def _await_death(self) -> None:
        process = self._server.process
        assert process is not None
        deadline = time.monotonic() + DEADLY_S
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(STEP_S)


def agents_of(server_pid: int) -> list[int]:
    """The agent processes of a server."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            is_agent = b"scripted_agent" in (folder / "cmdline").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        if parent == server_pid and is_agent:
            found.append(int(folder.name))
    return found
