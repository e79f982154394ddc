"""`groupx status`: what runs. Starts nothing; exit code 3 when no server runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from groupx_shared.errors import ConfigError, ErrorCode
from groupx_shared.runtime import RuntimeFile, runtime_path
from groupx_shared.text import safe_line
from groupx_shared.workspace import Workspace
from groupx_tui.cli import agents, diagnostics, output, turns
from groupx_tui.cli.api import Api, ServerRefusedError
from groupx_tui.cli.diagnostics import ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.probe import Probe, probe
from groupx_tui.cli.session import workspace_of

MAX_TURNS = 50
OLDER = "not known to this server, which is older; “groupx restart” starts this program's"
Facts = dict[str, Any]


def run(call: Invocation) -> int:
    """Print what runs for the workspace."""
    workspace = workspace_of(call)
    found = probe(workspace)
    is_running = found.standing == "running" and found.runtime is not None
    facts = _facts(workspace, found)
    if is_running and found.runtime is not None:
        facts |= _details(Api(workspace, found.runtime))
    if call.flag("json"):
        output.json_line(facts)
    else:
        _print(facts)
    return ExitCode.DONE if is_running else ExitCode.NO_SERVER


def config_change(workspace: Workspace, runtime: RuntimeFile) -> str | None:
    """Return what is to be said of the config file, when it is not the one that the server read;
    None when it is.

    The file's time answers mostly; only a later one costs reading it.
    """
    try:
        changed_at = workspace.config_path.stat().st_mtime
    except FileNotFoundError:
        return None if workspace.is_default else "It is not there any more."
    if changed_at < _seconds(runtime.started_at):
        return None
    from groupx_shared.config import load_config, runtime_key

    try:
        is_same = runtime_key(workspace, load_config(workspace)) == runtime.runtime_key
    except ConfigError as error:
        return f"It was changed since the start and has an error. {error.message}"
    return None if is_same else "It was changed since the start; “groupx reload” takes it over."


def _seconds(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return 0.0  # unknown: then the file itself is read


def _facts(workspace: Workspace, found: Probe) -> Facts:
    runtime, health = found.runtime, found.health or {}
    facts: Facts = {
        "running": found.standing == "running",
        "standing": found.standing,
        "configPath": str(workspace.config_path),
        "dataFolder": str(workspace.data_folder),
    }
    if runtime is None or found.standing in ("gone", "foreign"):
        return facts
    return facts | {
        "url": runtime.url,
        "runtimeFile": str(runtime_path(workspace)),
        "pid": runtime.pid,
        "version": runtime.version,
        "status": health.get("status"),
        "problem": health.get("problem"),
        "startedAt": runtime.started_at,
        "uptimeS": health.get("uptimeS"),
        "logFile": runtime.log_file,
        "configChange": config_change(workspace, runtime),
    }


def _details(api: Api) -> Facts:
    """What the server tells; None for what an older one does not know."""
    asked: dict[str, Callable[[], object]] = {
        "rooms": api.rooms,
        "agents": api.agents,
        "openTurns": lambda: api.turns(status="open", limit=MAX_TURNS)["turns"],
        "assistant": api.assistant,
    }
    return {name: _known(ask) for name, ask in asked.items()}


def _known(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except ServerRefusedError as error:
        if error.code != ErrorCode.UNKNOWN_PATH:
            raise
        return None


def _print(facts: Facts) -> None:
    if not facts["running"]:
        _print_absent(facts)
        return
    _line("server", f"{facts['url']} (process {facts['pid']}, version {facts['version']})")
    if facts["status"] != "ok":
        problem = f": {facts['problem']}" if facts["problem"] else ""
        _line("health", f"{facts['status']}{problem}")
    _line("up", _duration(float(facts["uptimeS"] or 0)))
    _line("config", str(facts["configPath"]))
    _line("data", str(facts["dataFolder"]))
    _line("log", str(facts["logFile"]))
    _line("rooms", OLDER if facts["rooms"] is None else _rooms(facts["rooms"]))
    _line("assistant", OLDER if facts["assistant"] is None else _assistant(facts["assistant"]))
    if facts["agents"] is not None:
        output.line()
        agents.print_table(facts["agents"])
    if facts["openTurns"]:
        output.line()
        turns.print_table(facts["openTurns"])
    if facts["configChange"]:
        diagnostics.say(f"{facts['configPath']}: {facts['configChange']}")


def _rooms(rooms: list[Facts]) -> str:
    names = [str(room["roomId"]).removeprefix("room:") for room in rooms]
    return f"{len(names)}: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"


def _assistant(status: Facts) -> str:
    """Its name and program, how it is, and why."""
    driver = f" ({status['driver']})" if status.get("driver") else ""
    detail = f": {status['detail']}" if status.get("detail") else ""
    return f"{status['name']}{driver}, {status['status']}{detail}"


def _print_absent(facts: Facts) -> None:
    if facts["standing"] in ("absent", "gone", "foreign"):
        diagnostics.say(f"No server runs for {facts['configPath']}. Start it: groupx start")
    else:
        diagnostics.say(f"The server (process {facts['pid']}) is {facts['standing']}.")


def _line(label: str, text: str) -> None:
    output.line(f"{output.styled(f'{label:9}', '2')} {safe_line(text, 500)}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    shown = [f"{number} {unit}" for number, unit in parts if number][:2]
    return " ".join(shown) or "0 s"
