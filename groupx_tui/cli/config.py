"""`groupx config`: the plain settings of the workspace, listed and changed.

What does not fit is refused before anything is written; a running server takes a change over.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from groupx_shared.config import load_config
from groupx_shared.configedit import Change, set_setting, unset_setting
from groupx_shared.errors import ConfigError
from groupx_shared.settings import Config
from groupx_shared.settingslist import Knob, find_knob, knobs, read_value
from groupx_tui.cli import output
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.roster import run_change
from groupx_tui.cli.session import workspace_of


def run_list(call: Invocation) -> int:
    """Print each setting with its value; what differs from its default is marked."""
    workspace = workspace_of(call)
    found = knobs(_config(call))
    if call.flag("json"):
        told = [as_json(knob) for knob in found]
        output.json_line({"configPath": str(workspace.config_path), "settings": told})
        return ExitCode.DONE
    width = max(len(knob.key) for knob in found)
    for knob in found:
        mark = " " if knob.value == knob.default else "*"
        output.line(f"{mark} {knob.key:<{width}}  {shown(knob.value):>12}  {knob.meaning}")
    return ExitCode.DONE


def run_set(call: Invocation) -> int:
    """Change one setting, or take its default."""
    key, equals, text = call.required("setting").partition("=")
    if not equals or not key:
        raise CommandError(
            "Write KEY=VALUE, like limits.queuePerAgent=32; “KEY=” takes the default.",
            ExitCode.USAGE,
        )
    return run_change(call, _change(_config(call), key.strip(), text))


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _change(config: Config, key: str, text: str) -> Change:
    try:
        knob = find_knob(config, key)
        return set_setting(knob.path, read_value(knob, text)) if text else unset_setting(knob.path)
    except ConfigError as error:
        raise CommandError(f"{error.message} Nothing was changed.", ExitCode.REFUSED) from error


def _config(call: Invocation) -> Config:
    try:
        return load_config(workspace_of(call))
    except ConfigError as error:
        raise CommandError(error.message, ExitCode.REFUSED) from error


def as_json(knob: Knob) -> dict[str, Any]:
    """As it is printed."""
    names = {"needs_restart": "needsRestart"}
    return {names.get(name, name): value for name, value in asdict(knob).items()}
