"""`groupx verify`, `backup` and `restore`: commands on database files, with or without a server.

The server's code does the work in a child process (`python -m groupx_server.portability`), which
reads a file in use beside its server. Nothing here opens a database, and nothing is ever replaced.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from groupx_shared.config import database_path, load_config
from groupx_shared.runtime import AGENT_VARIABLES
from groupx_shared.text import safe_line, safe_text
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of

MODULE: Final = "groupx_server.portability"
LONGEST_S: Final = 3600.0
"""For one file; a gigabyte takes some seconds."""

Result = dict[str, Any]


def run_verify(call: Invocation) -> int:
    """Prove a file and print what it holds and what is wrong with it."""
    given = call.text("file")
    file = _absolute(given) if given is not None else database_of(call)
    diagnostics.progress(f"Reading {file} …")
    result = ask("verify", file, *(["--deep"] if call.flag("deep") else []))
    diagnostics.progress("")
    if call.flag("json"):
        output.json_line(result)
    else:
        _print_contents(result)
        _print_verdict(result)
    return ExitCode.TURN_FAILED if result["violations"] else ExitCode.DONE


def run_backup(call: Invocation) -> int:
    """Copy the workspace's database."""
    source, target = database_of(call), _absolute(call.required("file"))
    diagnostics.progress(f"Copying {source} …")
    result = ask("backup", source, target)
    diagnostics.progress("")
    if call.flag("json"):
        output.json_line(result)
    else:
        output.line(f"{target}")
        diagnostics.say(f"{_size(result['bytes'])}, {result['events']:,} events; proven.")
    return ExitCode.DONE


def run_restore(call: Invocation) -> int:
    """Make a database from a backup, or list the backups."""
    backup, target = call.text("backup"), call.text("to")
    if backup is None:
        return _list_backups(call)
    if target is None:
        raise CommandError("Say with --to which file to make; it must not exist.", ExitCode.USAGE)
    result = ask("restore", _absolute(backup), _absolute(target))
    if call.flag("json"):
        output.json_line(result)
    else:
        _print_contents(result | {"file": result["restored"]})
        _print_verdict(result)
        diagnostics.say(_how_to_use(call, Path(result["restored"])))
    return ExitCode.DONE


def database_of(call: Invocation) -> Path:
    """The database of the workspace that the command line means. Raises: ConfigError."""
    workspace = workspace_of(call)
    return database_path(workspace, load_config(workspace)).absolute()


def ask(command: str, *arguments: Path | str) -> Result:
    """Run a command on files in a child process; return what it tells.

    Raises: CommandError (refused) with the sentence of what it cannot do.
    """
    argv = [sys.executable, "-P", "-m", MODULE, command, *map(str, arguments)]
    env = {name: value for name, value in os.environ.items() if name not in AGENT_VARIABLES}
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            timeout=LONGEST_S,
            check=False,
        )
        result: Result = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise CommandError(f"The file could not be looked at: {error}.", ExitCode.UNCERTAIN) from (
            error
        )
    if "error" in result:
        raise CommandError(str(result["error"]["message"]), ExitCode.REFUSED)
    return result


def _absolute(name: str) -> Path:
    return Path(name).expanduser().absolute()


def _list_backups(call: Invocation) -> int:
    result = ask("list", database_of(call))
    if call.flag("json"):
        output.json_line(result)
        return ExitCode.DONE
    rows = [
        (str(each["madeAt"])[:19].replace("T", " "), _size(each["bytes"]), str(each["file"]))
        for each in result["backups"]
    ]
    if not rows:
        diagnostics.say(f"There is no backup of {result['file']} yet.")
        return ExitCode.DONE
    output.table(("MADE (UTC)", "SIZE", "FILE"), rows, last=1000)
    return ExitCode.DONE


def _print_contents(result: Result) -> None:
    output.line(f"file      {safe_line(str(result['file']), 4096)}")
    if "events" not in result:
        return
    output.line(f"version   {result['version']}")
    if result["ledgerId"]:
        output.line(f"ledger    {result['ledgerId']}")
    output.line(
        f"holds     {result['events']:,} events, {result['messages']:,} messages, "
        f"{result['rooms']:,} rooms, {result['agents']:,} agents"
    )
    turns = ", ".join(f"{count:,} {status}" for status, count in sorted(result["turns"].items()))
    output.line(f"turns     {turns or 'none'}")


def _print_verdict(result: Result) -> None:
    if result["isNewer"]:
        output.line("checked   only SQLite's own check: a newer GroupX wrote it")
    else:
        output.line(f"checked   {result['rules']} rules, and SQLite's own check")
    for violation in result["violations"]:
        rows = safe_text(", ".join(violation["rows"])).replace("\n", " ")
        output.line(f"{output.styled('BROKEN', '31')}    {violation['rule']}: {rows}")
    if not result["violations"]:
        output.line(f"{output.styled('SOUND', '32')}")


def _how_to_use(call: Invocation, made: Path) -> str:
    own = database_of(call)
    if made == own:
        return "The workspace uses it from its next start on."
    return (
        f"To use it: “groupx stop”, move {own} away with its -wal and -shm files, and move "
        f"{made.name} to its place."
    )


def _size(count: int) -> str:
    return f"{count / 1_000_000:,.1f} MB"
