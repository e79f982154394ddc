"""Shell completion: agents and rooms of the server if one runs, agents of the config, drivers.

Runs at each press of Tab: it never starts a server, and when the server cannot tell within
`PATIENCE_S`, nothing is offered.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from groupx_shared.drivers import DRIVERS, VENDOR_DRIVERS
from groupx_shared.errors import GroupXError
from groupx_shared.text import safe_line
from groupx_shared.workspace import find_workspace
from groupx_tui.cli.api import Api
from groupx_tui.cli.options import Completion
from groupx_tui.cli.probe import probe

PATIENCE_S: Final = 0.5
"""A Tab that takes longer feels broken."""

Completer = Callable[[str], list[str]]


def of(kind: Completion | None) -> Completer | None:
    """Return the completer for a kind of name; None when there is nothing to complete."""
    completers: dict[Completion, Completer] = {
        "agents": agents,
        "rooms": rooms,
        "config": configured,
        "drivers": drivers,
        "any_agent": any_agent,
    }
    return None if kind is None else completers[kind]


def agents(incomplete: str) -> list[str]:
    """Agents whose short name begins with `incomplete`."""
    return _beginning(incomplete, lambda api: api.agents(), "actorId", "agent:")


def rooms(incomplete: str) -> list[str]:
    """Rooms whose short id begins with `incomplete`."""
    return _beginning(incomplete, lambda api: api.rooms(), "roomId", "room:")


def configured(incomplete: str) -> list[str]:
    """Agents of the config file whose id begins with `incomplete`; the file is only glanced at."""
    try:
        data = json.loads(find_workspace(None).config_path.read_bytes())
        names = [safe_line(str(name)) for name in data.get("agents", ())]
    except (GroupXError, OSError, ValueError, AttributeError, TypeError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def drivers(incomplete: str) -> list[str]:
    """Known drivers whose name begins with `incomplete`."""
    return sorted(name for name in DRIVERS if name.startswith(incomplete))


def any_agent(incomplete: str) -> list[str]:
    """Agents of the config and known ones."""
    known = (name for name in VENDOR_DRIVERS if name.startswith(incomplete))
    return sorted({*configured(incomplete), *known})


def _beginning(
    incomplete: str, fetch: Callable[[Api], list[dict[str, Any]]], key: str, prefix: str
) -> list[str]:
    try:
        workspace = find_workspace(None)
        found = probe(workspace, PATIENCE_S)
        if found.standing != "running" or found.runtime is None:
            return []
        items = fetch(Api(workspace, found.runtime))
    except GroupXError:
        return []  # a completion has no way to say anything; the command itself will
    names = (safe_line(str(item.get(key)).removeprefix(prefix)) for item in items)
    return sorted(name for name in names if name.startswith(incomplete))
