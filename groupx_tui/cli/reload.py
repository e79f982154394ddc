"""`groupx reload`, which every change of the config ends with: a running server takes it over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groupx_shared.workspace import Workspace
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import Api, ServerRefusedError, short
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.probe import probe, ready
from groupx_tui.cli.session import workspace_of

Reply = dict[str, Any]


def run(call: Invocation) -> int:
    """Have the server read the config again."""
    reply = take_over(workspace_of(call))
    if reply is None:
        raise CommandError(
            "No server runs; it reads the config when it starts.", ExitCode.NO_SERVER
        )
    if call.flag("json"):
        output.json_line(reply)
    else:
        narrate(reply)
    return ExitCode.DONE


def take_over(workspace: Workspace) -> Reply | None:
    """Have a running server read the config again; None when none runs.

    Raises: ServerRefusedError (CONFIG_INVALID).
    """
    runtime = ready(probe(workspace))
    if runtime is None:
        return None
    try:
        return Api(workspace, runtime).reload()
    except ServerRefusedError as error:
        if error.wire_code != "UNKNOWN_PATH":
            raise
        return {"restartRequired": ["this version of the server"]}


def narrate(reply: Reply) -> None:
    """Say what a reload changed."""
    told = [
        _sentence(reply, "added", "is here now", "are here now"),
        _sentence(reply, "removed", "was taken out", "were taken out"),
        _sentence(reply, "enabled", "is switched on", "are switched on"),
        _sentence(reply, "disabled", "is switched off", "are switched off"),
        _sentence(reply, "changed", "has its new settings", "have their new settings"),
        _sentence(
            reply, "finishing", "ends its running turn first", "end their running turns first"
        ),
    ]
    settings = _names(reply, "settings")
    if settings:
        told.append(f"{', '.join(settings)}: in effect.")
    restart = _names(reply, "restartRequired")
    if restart:
        told.append(f"{', '.join(restart)}: only after “groupx restart”.")
    sentences = [sentence for sentence in told if sentence]
    diagnostics.say("\n".join(sentences) or "Nothing has changed.")


def _sentence(reply: Reply, key: str, one: str, many: str) -> str:
    names = _names(reply, key)
    return f"{_listed(names)} {one if len(names) == 1 else many}." if names else ""


def _names(reply: Reply, key: str) -> list[str]:
    return [short(str(name)) for name in reply.get(key, ())]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
