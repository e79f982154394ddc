"""`groupx assistant use`: chooses the room assistant's program in the config, safely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groupx_shared.configedit import change_config, set_assistant
from groupx_shared.drivers import VENDOR_DRIVERS
from groupx_shared.errors import ConfigError
from groupx_shared.names import unknown_name
from groupx_shared.settings import BUILTIN_DRIVER
from groupx_tui.cli import diagnostics, output, reload
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of


def run_use(call: Invocation) -> int:
    """Write the config; a running server takes it over at once."""
    settings = None if call.flag("off") else _settings(call)
    workspace = workspace_of(call)
    try:
        change_config(workspace, set_assistant(settings))
    except ConfigError as error:
        raise CommandError(f"{error.message} Nothing was changed.", ExitCode.REFUSED) from error
    reply = reload.take_over(workspace)
    if call.flag("json"):
        output.json_line(
            {"configPath": str(workspace.config_path), "settings": settings, "reload": reply}
        )
        return ExitCode.DONE
    if settings is None:
        diagnostics.say("The room assistant is switched off.")
        return ExitCode.DONE
    diagnostics.say(f"The room assistant is {settings['brain']['driver']} now.")
    if settings["brain"]["driver"] == BUILTIN_DRIVER:
        diagnostics.say("It answers and looks things up; it does nothing in the rooms.")
    diagnostics.say('Try it: groupx assistant ask "What goes on here?"')
    return ExitCode.DONE


def _settings(call: Invocation) -> dict[str, Any]:
    driver, command = call.text("driver"), call.text("command")
    if driver is None:
        driver = "acp" if command is not None else None
    known = (*VENDOR_DRIVERS, "acp", BUILTIN_DRIVER)
    if driver is None:
        raise CommandError(
            "Which program? Name one, like “groupx assistant use codex”, or --off.", ExitCode.USAGE
        )
    if driver not in known:
        raise CommandError(unknown_name("driver", driver, known), ExitCode.USAGE)
    if driver == "acp" and command is None:
        raise CommandError("acp needs --command: what to start.", ExitCode.USAGE)
    cwd = call.text("cwd")
    told = {
        "driver": driver,
        "command": command,
        "cwd": None if cwd is None else str(Path(cwd).expanduser().resolve()),
    }
    brain = {name: value for name, value in told.items() if value is not None}
    name = call.text("name")
    return {**({} if name is None else {"name": name}), "brain": brain}
