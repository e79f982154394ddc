"""How long the hot commands take to start, against a bare Python in the same run; prints JSON.

    python tests/bench/cli_start.py [--rounds N]

* `version`: `groupx --version`;
* `send`: `groupx send` without the request: the server's replies are put in its place.

Compile first (`python -m compileall`), as installers do. Rounds alternate between the programs;
each figure is the median, `ratio` is to `python -c pass`. CPU time is the steadier of the two.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from groupx_shared.runtime import RuntimeFile, write_runtime
from groupx_shared.version import RUNTIME_PROTOCOL
from groupx_shared.workspace import find_workspace

VERSION = "from groupx_tui.cli.main import main; main(['--version'])"
SEND = """
import groupx_tui.cli.wire_http as wire

class Reply:
    status = 200
    def __init__(self, body): self.body = body
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def read(self): return self.body

REPLIES = {replies!r}
wire.open_reply = lambda url, request, patience: Reply(REPLIES[request.path])
from groupx_tui.cli.main import main
main(["send", "--to", "guide", "hi"])
"""


def prepare(folder: Path) -> str:
    """Make a workspace with a runtime file; return the program of `send`."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    os.environ.pop("GROUPX_HOME", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    (folder / "groupx.json").write_text("{}")
    os.chdir(folder)
    workspace = find_workspace(None)
    key = workspace.scope_key
    write_runtime(workspace, RuntimeFile("http://127.0.0.1:1", "t", 1, key, key, "0", "t", "l"))
    health = {"status": "ok", "protocol": RUNTIME_PROTOCOL, "runtimeScopeKey": key}
    accepted = {"messageEventId": "e", "roomId": "r", "correlationId": "c", "seq": 1, "turns": []}
    replies = {"/api/health": health, "/api/messages": accepted}
    return SEND.format(replies={path: json.dumps(body).encode() for path, body in replies.items()})


def measure(program: str) -> tuple[float, float]:
    """Run a program; return its wall and CPU time in ms."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"the measured program failed with {process.returncode}")
    return (time.perf_counter() - began) * 1000, (used.ru_utime + used.ru_stime) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        programs = {"floor": "pass", "version": VERSION, "send": prepare(Path(folder))}
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        for _ in range(rounds):
            for name, text in programs.items():
                taken[name].append(measure(text))
    medians = {
        name: [statistics.median(column) for column in zip(*times, strict=True)]
        for name, times in taken.items()
    }
    floor = medians["floor"]
    report = {
        name: {
            "wall_ms": round(wall, 1),
            "cpu_ms": round(cpu, 1),
            "wall_ratio": round(wall / floor[0], 2),
            "cpu_ratio": round(cpu / floor[1], 2),
        }
        for name, (wall, cpu) in medians.items()
    }
    print(json.dumps({"goals": {"version": 2.5, "send": 4.5}, "cli_start": report}, indent=2))


if __name__ == "__main__":
    main()
