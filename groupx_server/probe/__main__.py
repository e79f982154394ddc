"""`python -m groupx_server.probe`: one JSON object a line on stdout, for the command line.

    survey [--start]   each agent: {"report": …}; before a slow one {"begin": "kimi"}
    try NAME           one agent, started
    turn NAME          one agent, a whole turn in a scratch room
    check              stdin {"agent": …, "settings": …}: would this do? {"report": …}

Exit codes: 0 reported · 2 wrong usage · 3 refused, with {"error": {"code", "message"}}.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from groupx_server.agents.local_model import LOCAL_VARIABLE, missing_extra
from groupx_server.agents.registry import DriverRegistry
from groupx_server.agents.watchdog import Watchdog
from groupx_server.probe.report import Report
from groupx_server.probe.selftest import run_turn
from groupx_server.probe.subjects import (
    Subject,
    all_subjects,
    configured_subjects,
    find_subject,
    located,
)
from groupx_server.probe.trial import Prober
from groupx_shared.config import load_config, parse_config
from groupx_shared.errors import AgentError, ConfigError, GroupXError
from groupx_shared.settings import Config
from groupx_shared.workspace import Workspace, default_workspace, find_workspace

EXIT_REFUSED: Final = 3
DEFAULT_TURN_S: Final = 180.0
MAX_STDIN: Final = 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one inquiry; return the exit code."""
    options = _parse(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="groupx-probe-") as scratch:
            asyncio.run(_run(options, Path(scratch).resolve()))
    except GroupXError as error:
        _line({"error": {"code": error.code, "message": error.message}})
        return EXIT_REFUSED
    except KeyboardInterrupt:
        return 130
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="groupx-probe", description="Tries agents out.")
    parser.add_argument("--config", metavar="FILE")
    parser.add_argument("--default-workspace", action="store_true")
    inquiries = parser.add_subparsers(dest="inquiry", required=True)
    survey = inquiries.add_parser("survey")
    survey.add_argument("--start", action="store_true")
    inquiries.add_parser("try").add_argument("name")
    turn = inquiries.add_parser("turn")
    turn.add_argument("name")
    turn.add_argument("--limit", type=float, default=DEFAULT_TURN_S)
    inquiries.add_parser("check")
    return parser.parse_args(arguments)


async def _run(options: argparse.Namespace, scratch: Path) -> None:
    workspace = _workspace(options)
    if options.inquiry == "check":
        _line({"report": _check(workspace).to_wire()})
        return
    watchdog = Watchdog()
    try:
        prober = Prober(watchdog)
        if options.inquiry == "survey":
            await _survey(prober, workspace, scratch, start=options.start)
            return
        subject = find_subject(
            options.name, load_config(workspace), _root(workspace, scratch), scratch
        )
        report = await prober.look(subject, start=True)
        if options.inquiry == "turn" and report.state in ("ready", "disabled"):
            _line({"begin": subject.entry.handle})
            await run_turn(report, subject, scratch, watchdog, options.limit)
            prober.advise(report, subject)
        _line({"report": report.to_wire()})
    finally:
        await watchdog.close()


def _workspace(options: argparse.Namespace) -> Workspace:
    return default_workspace() if options.default_workspace else find_workspace(options.config)


def _root(workspace: Workspace, scratch: Path) -> Path:
    """The workspace's folder; the default one is made by the first start of a server."""
    return workspace.root if workspace.root.is_dir() else scratch


async def _survey(prober: Prober, workspace: Workspace, scratch: Path, *, start: bool) -> None:
    try:
        config = load_config(workspace)
    except ConfigError:
        config = Config(agents={})  # who asks says what is wrong with the file

    async def look(subject: Subject) -> None:
        if start:
            _line({"begin": subject.entry.handle})
        report = await prober.look(subject, start=start)
        _line({"report": report.to_wire()})

    async with asyncio.TaskGroup() as tasks:
        for subject in all_subjects(config, _root(workspace, scratch), scratch):
            tasks.create_task(look(subject))


def _check(workspace: Workspace) -> Report:
    """Would an agent with these settings do? A program that is missing is no reason to refuse.

    Raises: ConfigError, AgentError (ADAPTER_NOT_FOUND)."""
    data = json.loads(sys.stdin.read(MAX_STDIN))
    agents = {"agents": {str(data["agent"]): data["settings"]}}
    config = parse_config(json.dumps(agents).encode(), workspace.config_path)
    (subject,) = configured_subjects(config, workspace.root)
    DriverRegistry(Watchdog())(subject.entry.spec)  # starts nothing
    problem = missing_extra() if subject.entry.spec.env.get(LOCAL_VARIABLE) == "1" else None
    if problem is not None:
        raise AgentError(problem)
    report, _ = located(subject)
    return report


def _line(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # what matters is in the reports
    raise SystemExit(main())
