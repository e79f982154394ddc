"""Asks a child process to look at agents: their programs, whether they start, a whole turn.

The server's code does that (`python -m groupx_server.probe`), not this program's; it works with no
server running. The child is bounded by itself and cleans up its own children when it is asked to
end; here it is only waited for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from groupx_shared.drivers import VENDOR_DRIVERS
from groupx_shared.runtime import AGENT_VARIABLES
from groupx_shared.text import safe_text
from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics
from groupx_tui.cli.diagnostics import CommandError, ExitCode

MODULE: Final = "groupx_server.probe"
LEAVE_S: Final = 20.0
"""For the child to end its own children after an interruption."""

Report = dict[str, Any]


def survey(workspace: Workspace, *, start: bool) -> list[Report]:
    """Every agent of the config, then the known ones that are not in it. `start`: try each."""
    reports: list[Report] = []
    trying: list[str] = []
    for line in _lines(workspace, ["survey", *(["--start"] if start else [])]):
        if "begin" in line:
            trying.append(str(line["begin"]))
        elif "report" in line:
            reports.append(line["report"])
            trying = [name for name in trying if name != line["report"]["agent"]]
        if trying:
            diagnostics.progress(f"Trying {', '.join(trying)} …")
    if start:
        diagnostics.progress("")
    return sorted(reports, key=_place)


def _place(report: Report) -> tuple[bool, bool, int]:
    """The config's agents first, those that are not here last, else in the usual order."""
    order = {name: place for place, name in enumerate(VENDOR_DRIVERS)}
    is_absent = report["state"] == "absent" and not report["configured"]
    return not report["configured"], is_absent, order.get(report["driver"], 0)


def try_agent(workspace: Workspace, name: str) -> Report:
    """One agent, started. Raises: CommandError when there is none of that name."""
    diagnostics.progress(f"Trying {name} …")
    return _last_report(workspace, ["try", name])


def try_turn(workspace: Workspace, name: str) -> Report:
    """One agent, a whole turn in a scratch room. Raises: CommandError as `try_agent`."""
    diagnostics.progress(f"Sending {name} a tiny message …")
    return _last_report(workspace, ["turn", name])


def check(workspace: Workspace, agent: str, settings: Report) -> Report:
    """What an agent with these settings would be. Raises: CommandError when they cannot be."""
    question = json.dumps({"agent": agent, "settings": settings})
    return _last_report(workspace, ["check"], question)


def _last_report(workspace: Workspace, words: Sequence[str], question: str = "") -> Report:
    reports = [line["report"] for line in _lines(workspace, words, question) if "report" in line]
    diagnostics.progress("")
    if not reports:
        raise CommandError("The trial ended without a result.", ExitCode.UNCERTAIN)
    report: Report = reports[-1]
    return report


def _lines(
    workspace: Workspace, words: Sequence[str], question: str = ""
) -> Iterator[dict[str, Any]]:
    """The child's lines as they come. Raises: CommandError with its refusal."""
    child = _spawn([*command(workspace), *words])
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(question.encode())
        child.stdin.close()
        for raw in child.stdout:
            line = json.loads(raw)
            if "error" in line:
                raise CommandError(str(line["error"]["message"]), ExitCode.REFUSED)
            yield line
        if child.wait(LEAVE_S) != 0:
            raise CommandError(f"The trial failed. {_last_words(child)}", ExitCode.UNCERTAIN)
    finally:
        _end(child)


def command(workspace: Workspace) -> list[str]:
    """The command line of the child; -P: the current folder holds no modules for it."""
    argv = [sys.executable, "-P", "-m", MODULE]
    if workspace.config_path.is_file():
        return [*argv, "--config", str(workspace.config_path)]
    return [*argv, "--default-workspace"]


def _spawn(argv: list[str]) -> subprocess.Popen[bytes]:
    env = {name: value for name, value in os.environ.items() if name not in AGENT_VARIABLES}
    try:
        return subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
    except OSError as error:
        raise CommandError(
            f"{argv[0]} cannot be run: {error.strerror}.", ExitCode.NO_SERVER
        ) from error


def _last_words(child: subprocess.Popen[bytes]) -> str:
    said = child.stderr.read() if child.stderr is not None else b""
    return safe_text(said.decode("utf-8", "replace").strip().rpartition("\n")[2])


def _end(child: subprocess.Popen[bytes]) -> None:
    """See it gone, whatever happened; an interruption reached it as well."""
    steps: list[Callable[[], None]] = [lambda: None, child.terminate, child.kill]
    for step in steps if child.poll() is None else []:
        step()
        try:
            child.wait(LEAVE_S)
            break
        except subprocess.TimeoutExpired:
            continue
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
