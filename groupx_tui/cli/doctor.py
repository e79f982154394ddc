"""`groupx doctor`: checks this machine, the workspace, its agents and the server; changes nothing.

Exit code 0 when nothing is wrong (warnings allowed), 3 when something keeps the server from
working, or when the one agent that was asked for cannot be used.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any, Final, cast

from groupx_shared.config import load_config
from groupx_shared.errors import ConfigError, GroupXError
from groupx_shared.runtime import read_runtime
from groupx_shared.text import safe_line
from groupx_shared.version import VERSION
from groupx_shared.workspace import Workspace
from groupx_tui.cli import ledgerfindings, output, trials
from groupx_tui.cli.agents import print_report
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.findings import Finding, Level
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.probe import probe
from groupx_tui.cli.reportlines import level_of, line_of
from groupx_tui.cli.session import workspace_of
from groupx_tui.cli.status import config_change

_COLOURS: Final = {"ok": "32", "warning": "33", "error": "31", "absent": "2"}
OLDEST_SQLITE: Final = (3, 37, 0)
"""First with STRICT tables and everything else the ledger uses."""


def run(call: Invocation) -> int:
    """Run all checks and print what they found; or one agent's self-test."""
    if (name := call.text("agent")) is not None:
        return print_report(call, trials.try_turn(workspace_of(call), name))
    findings = list(_findings(workspace_of(call), start=not call.flag("quick")))
    if call.flag("json"):
        output.json_line({"findings": [_as_json(finding) for finding in findings]})
    else:
        width = max(len(finding.check) for finding in findings)
        for finding in findings:
            level = output.styled(f"{finding.level:8}", _COLOURS[finding.level])
            output.line(f"{level} {finding.check:{width}} {safe_line(finding.text, 1000)}")
    is_broken = any(finding.level == "error" for finding in findings)
    return ExitCode.NO_SERVER if is_broken else ExitCode.DONE


def _as_json(finding: Finding) -> dict[str, Any]:
    told = {"check": finding.check, "level": finding.level, "text": finding.text}
    return told if finding.agent is None else {**told, "agent": finding.agent}


def _findings(workspace: Workspace, *, start: bool) -> Iterator[Finding]:
    yield Finding("program", "ok", f"GroupX {VERSION}")
    yield Finding("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield _sqlite(sqlite3.sqlite_version_info, sqlite3.sqlite_version)
    yield from _folders(workspace)
    try:
        load_config(workspace)
    except ConfigError as error:
        yield Finding("config", "error", error.message)
    else:
        yield Finding("config", "ok", _config(workspace))
        yield from ledgerfindings.findings(workspace, prove=start)
    yield from _agents(workspace, start=start)
    yield _server(workspace)


def _sqlite(found: tuple[int, ...], name: str) -> Finding:
    if found < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        return Finding("sqlite", "error", f"{name} is too old; {needed} or newer is needed.")
    return Finding("sqlite", "ok", name)


def _folders(workspace: Workspace) -> Iterator[Finding]:
    folder = workspace.data_folder
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        yield Finding("data", "error", f"{existing} cannot be written.")
    else:
        free = shutil.disk_usage(existing).free // (1024 * 1024)
        level: Level = "ok" if free > 100 else "warning"
        yield Finding("data", level, f"{folder} ({free:,} MiB free)")


def _config(workspace: Workspace) -> str:
    if workspace.config_path.exists():
        return str(workspace.config_path)
    return f"{workspace.config_path} does not exist; the defaults are used."


def _agents(workspace: Workspace, *, start: bool) -> Iterator[Finding]:
    for report in trials.survey(workspace, start=start):
        level = cast("Level", level_of(report))
        yield Finding(f"agent {report['agent']}", level, line_of(report), report)


def _server(workspace: Workspace) -> Finding:
    try:
        return _proved(workspace)
    except GroupXError as error:
        return Finding("server", "error", error.message)


def _proved(workspace: Workspace) -> Finding:
    runtime = read_runtime(workspace)
    found = probe(workspace)
    if runtime is None or found.standing == "absent":
        return Finding("server", "ok", "none runs (it starts when it is needed)")
    if found.standing in ("gone", "foreign"):
        return Finding("server", "warning", "it has crashed; the next command starts it again")
    if found.standing != "running":
        return Finding("server", "warning", f"process {runtime.pid} is {found.standing}")
    if found.health is not None and found.health.get("problem"):
        return Finding("server", "error", f"{runtime.url}: {found.health['problem']}")
    if (change := config_change(workspace, runtime)) is not None:
        return Finding("server", "warning", f"{runtime.url}; the config: {change}")
    return Finding("server", "ok", f"{runtime.url} (process {runtime.pid})")
