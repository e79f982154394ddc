"""How long programs take to start: goals 5, 13, 17 and 18. Most floors are `python -c pass`.

Compiled beforehand, as installers do, and with PYTHONDONTWRITEBYTECODE unset, or it is the
compiler that is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.ptys import in_terminal
from bench.rows import Figure, Put, Row, Size, times
from bench.sampling import in_turns, milliseconds, p50
from bench.site import bench_config, filled_folder, fresh_site
from bench.wire import Address
from groupx_shared.runtime import RuntimeFile, read_runtime, write_runtime
from groupx_shared.version import RUNTIME_PROTOCOL
from groupx_shared.workspace import find_workspace
from support.server_process import ServerProcess

PYTHON = "python -c pass"
BARE = "bare Textual app"
PATIENCE_S = 30.0
PROGRAMS = Path(__file__).parents[1] / "programs"
COMMAND = "from groupx_tui.cli.main import main; raise SystemExit(main({words!r}))"
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
main(["send", "--config", {config!r}, "--to", "guide", "hi"])
"""

ROWS = (
    Row("version", "`groupx --version`", "ms", times(2.5), times(2), PYTHON),
    Row("send", "`groupx send`, without the server's part", "ms", times(4.5), times(3.5), PYTHON),
    Row(
        "serve", "`groupx serve`, spawn → first 200, largest ledger", "ms",
        times(20), times(15), PYTHON,
    ),
    Row(
        "serve-flat", "the same beside the smallest ledger", "ms", times(1.3), None, "10k ledger"
    ),
    Row("first-frame", "window, spawn → first frame", "ms", times(1.5), times(1.25), BARE),
)  # fmt: skip


def _python_ms(program: str) -> float:
    """Wall time of a Python program."""

    def work() -> None:
        subprocess.run(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_S,
        )  # fmt: skip

    return milliseconds(work)


def _commands(size: Size, put: Put) -> None:
    with tempfile.TemporaryDirectory(prefix="groupx-bench-") as folder:
        version, send = COMMAND.format(words=["--version"]), _send_program(Path(folder))
        sides = {
            "floor": lambda: _python_ms("pass"),
            "version": lambda: _python_ms(version),
            "send": lambda: _python_ms(send),
        }
        found = in_turns(size.of(25, 1), sides)
    for key in ("version", "send"):
        put(key, Figure(p50(found[key]), p50(found["floor"])))


def _send_program(folder: Path) -> str:
    """A workspace whose runtime file says that a server runs, and a program that sends there."""
    (folder / "groupx.json").write_text("{}")
    workspace = find_workspace(folder)
    key = workspace.scope_key
    write_runtime(workspace, RuntimeFile("http://127.0.0.1:1", "t", 1, key, key, "0", "t", "l"))
    health = {"status": "ok", "protocol": RUNTIME_PROTOCOL, "runtimeScopeKey": key}
    accepted = {"messageEventId": "e", "roomId": "r", "correlationId": "c", "seq": 1, "turns": []}
    replies = {"/api/health": health, "/api/messages": accepted}
    encoded = {path: json.dumps(body).encode() for path, body in replies.items()}
    return SEND.format(replies=encoded, config=str(folder))


def start_ms(server: ServerProcess) -> float:
    """Start a server, wait for its first answer, stop it; return the time to the answer."""
    begun = time.perf_counter()
    process = server.spawn()
    try:
        while (runtime := read_runtime(server.workspace)) is None or runtime.pid != process.pid:
            if process.poll() is not None or time.perf_counter() - begun > PATIENCE_S:
                raise RuntimeError(f"the server did not start: {server.output()[-300:]}")
            time.sleep(0.001)
        _first_answer(Address.of(runtime.url, runtime.token))
        return (time.perf_counter() - begun) * 1000
    finally:
        server.stop()


def _first_answer(address: Address) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", address.port), PATIENCE_S) as connection:
        connection.sendall(address.head("GET", "/api/health"))
        if not connection.recv(4096).startswith(b"HTTP/1.1 200"):
            raise RuntimeError("the first answer is not 200")


def _servers(size: Size, put: Put) -> None:
    with filled_folder(size, 0) as small, filled_folder(size, 2) as large:
        servers = {
            "small": ServerProcess(small, bench_config()),
            "large": ServerProcess(large, bench_config()),
        }
        found = in_turns(
            size.rounds,
            {
                "floor": lambda: _python_ms("pass"),
                "small": lambda: start_ms(servers["small"]),
                "large": lambda: start_ms(servers["large"]),
            },
        )
    put("serve", Figure(p50(found["large"]), p50(found["floor"])))
    put("serve-flat", Figure(p50(found["large"]), p50(found["small"])))


def _windows(size: Size, put: Put) -> None:
    with fresh_site() as site:
        folder = str(site.server.folder)
        ours = [sys.executable, "-c", COMMAND.format(words=["--config", folder])]
        bare = [sys.executable, str(PROGRAMS / "window.py"), "bare"]
        found = in_turns(
            size.rounds,
            {
                "floor": lambda: _frame_ms(bare, "ready"),
                "ours": lambda: _frame_ms(ours, "GroupX"),
            },
        )
    put("first-frame", Figure(p50(found["ours"]), p50(found["floor"])))


def _frame_ms(argv: list[str], text: str) -> float:
    """From the spawn until a text of the first frame is written."""
    path = os.pathsep.join(filter(None, (str(PROGRAMS.parents[1]), os.environ.get("PYTHONPATH"))))
    with in_terminal(argv, env={"PYTHONPATH": path}) as window:
        window.watch_for(text)
        return (window.wait_for(text, PATIENCE_S) - window.begun) * 1000


PARTS = (_commands, _servers, _windows)
