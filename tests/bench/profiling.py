"""Where the time goes: `make profile` runs the server, and the window, under Python's profiler.

    PYTHONPATH=tests python -m bench.profiling [server|window] [--lines N] [--keep FOLDER]

The server does turns with a scripted agent, takes messages and feeds a stream; the window follows a
streaming answer in a terminal. Prints the functions that cost most by themselves and with all that
they call. By CPU time of the main thread; the profiler makes everything slower: read shares.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pstats
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from bench.groups.starting import PROGRAMS
from bench.ptys import in_terminal
from bench.site import Site, bench_config, fresh_site, talking
from groupx_server.http.serve import loop_factory
from support.server_process import ServerProcess

TURNS, MESSAGES, DELTAS, RATE = 200, 500, 1_000, 200
PATIENCE_S = 60.0
PROFILED = str(PROGRAMS / "profiled.py")
LAST_MARK = chr(0x561 + DELTAS // 100 - 1)


class ProfiledServer(ServerProcess):
    """A server whose profile is written when it stops."""

    def command(self) -> list[str]:
        """Under the profiler."""
        target = str(self.folder / "server.prof")
        return [sys.executable, PROFILED, target, "groupx_server", "--config", str(self.folder)]


def profile_server(folder: Path) -> Path:
    """Work a server; return its profile."""
    server = ProfiledServer(folder, bench_config(settle=False))
    try:
        site = Site(server, server.start())
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(_work(site))
    finally:
        if server.process is not None:
            server.stop()
    return folder / "server.prof"


async def _work(site: Site) -> None:
    async with talking(site) as (stream, connection):
        for _ in range(TURNS):
            await site.turn(stream, connection)
        for _ in range(MESSAGES):
            await connection.send("x" * 200)
        await site.turn(stream, connection, "[[burst 5000]]")
        for _ in range(20):
            await connection.get("/api/bootstrap")
            await connection.get("/api/context")


def profile_window(folder: Path) -> Path:
    """Stream into a window; return its profile."""
    target = folder / "window.prof"
    with fresh_site() as site:
        words = ["groupx_tui.cli", "--config", str(site.server.folder)]
        with in_terminal([sys.executable, PROFILED, str(target), *words]) as window:
            window.watch_for("live", LAST_MARK)
            window.wait_for("live", PATIENCE_S)
            window.press(f"[[pace {DELTAS} {RATE}]]\r")
            window.wait_for(LAST_MARK, PATIENCE_S)
            window.press("\x03\x03")  # leave in order, or no profile is written
            window.wait_end(PATIENCE_S)
    return target


def show(path: Path, lines: int, stream: TextIO) -> None:
    """The most expensive functions."""
    found = pstats.Stats(str(path), stream=stream)
    found.strip_dirs()
    for order in ("tottime", "cumulative"):
        found.sort_stats(order).print_stats(lines)


def main() -> None:
    """Profile what is asked for, or both."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("which", nargs="?", choices=("server", "window"))
    options.add_argument("--lines", type=int, default=30)
    options.add_argument("--keep", type=Path, help="folder for the profiles, for other viewers")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="groupx-profile-") as name:
        os.environ.setdefault("GROUPX_HOME", name)
        folder = given.keep or Path(name)
        for which, profiled in (("server", profile_server), ("window", profile_window)):
            if given.which in (None, which):
                place = folder / which
                place.mkdir(parents=True, exist_ok=True)
                print(f"── {which} ──", flush=True)
                show(profiled(place), given.lines, sys.stdout)


if __name__ == "__main__":
    main()
