"""`groupx logs`: the end of the server's log, for people or (with --json) as it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from groupx_shared.runtime import read_runtime
from groupx_shared.text import safe_line
from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.logfiles import last_lines, server_log, start_log
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of

LOOK_S: Final = 0.25
"""How often a followed file is looked at: soon enough to read along, no work in between."""
MAX_LINE: Final = 2000
_HEAD: Final = ("at", "level", "event")


def run(call: Invocation) -> int:
    """Print the last lines, and with --follow what is added."""
    workspace = workspace_of(call)
    path = _log(workspace)
    show: Callable[[str], str] = output.harmless_json if call.flag("json") else log_line
    try:
        for line in last_lines(path, call.integer("lines") or 0):
            output.line(show(line))
        output.flush()
        if call.flag("follow"):
            for line in _added(path, Clock()):
                output.write(show(line) + "\n")
    except KeyboardInterrupt:
        return ExitCode.DONE
    except FileNotFoundError as error:
        raise CommandError(
            f"There is no log yet: {path} (no server has run here).", ExitCode.NO_SERVER
        ) from error
    return ExitCode.DONE


def log_line(line: str) -> str:
    """Return a JSON log line as `time level event key=value …`; any other line cleaned."""
    try:
        entry: Any = json.loads(line)
    except ValueError:
        return safe_line(line, MAX_LINE)
    if not isinstance(entry, dict):
        return safe_line(line, MAX_LINE)
    head = [str(entry.pop(key)) for key in _HEAD if key in entry]
    rest = [f"{key}={value}" for key, value in entry.items()]
    return safe_line("  ".join([*head, " ".join(rest)]), MAX_LINE)


def _log(workspace: Workspace) -> Path:
    runtime = read_runtime(workspace)
    path = Path(runtime.log_file) if runtime is not None else server_log(workspace)
    if not path.exists() and start_log(workspace).exists():
        diagnostics.say("The server has no log of its own yet; this is what its start printed.")
        return start_log(workspace)
    return path


def _added(path: Path, clock: Clock) -> Iterator[str]:
    """Yield lines as they are added, over a rotation too, for ever."""
    file = path.open("rb")
    file.seek(0, os.SEEK_END)
    rest = b""
    try:
        while True:
            if piece := file.read():
                *lines, rest = (rest + piece).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
            elif _was_rotated(path, file):
                file.close()
                file = path.open("rb")
            else:
                clock.pause(LOOK_S)
    finally:
        file.close()


def _was_rotated(path: Path, file: BinaryIO) -> bool:
    try:
        now = path.stat()
    except FileNotFoundError:
        return False  # between the two steps of a rotation
    return now.st_ino != os.fstat(file.fileno()).st_ino
