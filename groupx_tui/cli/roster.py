"""`groupx agents add|remove|enable|disable|set`: edits the workspace's config, safely.

What would not do (an unknown driver, an option it does not know) is refused before anything is
written. A running server takes the change over at once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from groupx_shared.config import load_config
from groupx_shared.configedit import (
    Change,
    add_agent,
    change_config,
    remove_agent,
    require_new,
    set_agent,
    unset_agent,
)
from groupx_shared.drivers import VENDOR_DRIVERS
from groupx_shared.errors import ConfigError, GroupXError
from groupx_shared.settings import BUILTIN_DRIVER, Config
from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics, output, reload, trials
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of

LOCAL_AGENT: Final = "local"
GROUPS: Final = ("env", "options")
"""Settings whose keys are free: what follows the first dot is one key, dots and all."""
WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
SWITCHES: Final = (["enabled"], ["datedMemory"], ["model", "discovery"], ["model", "local"])

Settings = dict[str, Any]


def run_add(call: Invocation) -> int:
    """Add an agent and print its id."""
    workspace = workspace_of(call)
    key = _id(call.text("agent") or (LOCAL_AGENT if call.flag("local") else ""))
    if not key:
        raise CommandError(
            "Which agent? “groupx agents list --available” shows the known ones.", ExitCode.USAGE
        )
    require_new(_config(workspace), key)
    settings = _settings(call, key, workspace)
    report = trials.check(workspace, key, settings)
    if "name" not in settings and report["name"] != key and settings["driver"] == key:
        settings = {"driver": settings["driver"], "name": report["name"], **settings}
    reply = _change(workspace, add_agent(key, settings))
    if call.flag("json"):
        result = {"agent": key, "settings": settings, "report": report, "reload": reply}
        output.json_line({"configPath": str(workspace.config_path), **result})
    else:
        output.line(key)
        _tell(workspace, reply)
        if report["state"] == "absent":
            diagnostics.say(f"{report['problem']} {report.get('advice') or ''}".strip())
        else:
            diagnostics.say(f"Try it: groupx agents test {key}")
    return ExitCode.DONE


def run_remove(call: Invocation) -> int:
    """Take an agent out of the config."""
    return run_change(call, remove_agent(_id(call.required("agent"))))


def run_enable(call: Invocation) -> int:
    """Switch an agent on."""
    return run_change(call, set_agent(_id(call.required("agent")), ["enabled"], True))


def run_disable(call: Invocation) -> int:
    """Switch an agent off."""
    return run_change(call, set_agent(_id(call.required("agent")), ["enabled"], False))


def run_set(call: Invocation) -> int:
    """Change one setting of an agent, or take its default."""
    name, equals, text = call.required("setting").partition("=")
    if not equals or not name:
        raise CommandError(
            "Write KEY=VALUE, like name=Ada or env.KEY=text; “KEY=” takes the default.",
            ExitCode.USAGE,
        )
    key, path = _id(call.required("agent")), _path(name)
    change = set_agent(key, path, _value(path, text)) if text else unset_agent(key, path)
    return run_change(call, _checked(workspace_of(call), key, change))


def run_change(call: Invocation, change: Change) -> int:
    """Change the file, and say what a running server made of it."""
    workspace = workspace_of(call)
    reply = _change(workspace, change)
    if call.flag("json"):
        output.json_line({"configPath": str(workspace.config_path), "reload": reply})
    else:
        _tell(workspace, reply)
    return ExitCode.DONE


def _config(workspace: Workspace) -> Config:
    try:
        return load_config(workspace)
    except ConfigError as error:
        raise CommandError(f"{error.message} Nothing was changed.", ExitCode.REFUSED) from error


def _change(workspace: Workspace, change: Change) -> dict[str, Any] | None:
    """Change the file, and have a running server take it over."""
    try:
        change_config(workspace, change)
    except ConfigError as error:
        raise CommandError(f"{error.message} Nothing was changed.", ExitCode.REFUSED) from error
    try:
        return reload.take_over(workspace)
    except GroupXError as error:
        raise CommandError(
            f"The config was changed, but the running server did not take it over: "
            f"{error.message} “groupx restart” does.",
            diagnostics.exit_code_of(error),
        ) from error


def _checked(workspace: Workspace, key: str, change: Change) -> Change:
    """The change, refused when the agent would not do any more."""

    def checked(text: str, config: Config) -> str:
        changed = change(text, config)
        settings = json.loads(changed)["agents"][key]
        if changed != text and isinstance(settings, dict):
            trials.check(workspace, key, settings)
        return changed

    return checked


def _tell(workspace: Workspace, reply: dict[str, Any] | None) -> None:
    if reply is None:
        diagnostics.say(f"{workspace.config_path} was changed; no server runs.")
    else:
        reload.narrate(reply)


def _settings(call: Invocation, key: str, workspace: Workspace) -> Settings:
    driver, command = call.text("driver"), call.text("command")
    if call.flag("local"):
        if driver is not None or command is not None:
            raise CommandError("--local goes without --driver and --command.", ExitCode.USAGE)
        driver = BUILTIN_DRIVER
    if driver is None:
        driver = key if key in (*VENDOR_DRIVERS, BUILTIN_DRIVER) else "acp"
    if driver == "acp" and command is None:
        raise CommandError(
            f"“{key}” is no known agent: say what to start with --command, or how to speak with "
            "it with --driver. “groupx agents list --available” shows the known ones.",
            ExitCode.USAGE,
        )
    told: Settings = {
        "driver": driver,
        "name": call.text("name"),
        "command": command,
        "cwd": _folder(call.text("cwd"), workspace),
        "identity": call.text("identity"),
        "model": {"local": True} if call.flag("local") else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _folder(cwd: str | None, workspace: Workspace) -> str | None:
    """The folder as the config names it: relative to the file when it lies below."""
    if cwd is None:
        return None
    folder = Path(cwd).expanduser().resolve()
    if not folder.is_dir():
        raise CommandError(f"There is no folder {folder}.", ExitCode.USAGE)
    is_below = folder.is_relative_to(workspace.root)
    return str(folder.relative_to(workspace.root)) if is_below else str(folder)


def _id(name: str) -> str:
    return name.removeprefix("@").removeprefix("agent:")


def _path(name: str) -> list[str]:
    group, dot, key = name.partition(".")
    if group in GROUPS and dot:
        return [group, key]
    return name.split(".")


def _value(path: list[str], text: str) -> Any:
    """The value of a setting, from a word: a switch, JSON where anything may stand, else text."""
    if path in SWITCHES:
        return WORDS.get(text.lower(), text)
    is_free = path[0] == "options" or path in (["env"], ["model"], ["command"])
    if is_free or path == ["command", "args"]:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
