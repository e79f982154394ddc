"""Shell completion of agent and room names, from the server if one runs.

Runs at each press of Tab: it never starts a server, and when the server cannot tell within
`PATIENCE_S`, nothing is offered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

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
    return None if kind is None else {"agents": agents, "rooms": rooms}[kind]


def agents(incomplete: str) -> list[str]:
    """Agents whose short name begins with `incomplete`."""
    return _beginning(incomplete, lambda api: api.agents(), "actorId", "agent:")


def rooms(incomplete: str) -> list[str]:
    """Rooms whose short id begins with `incomplete`."""
    return _beginning(incomplete, lambda api: api.rooms(), "roomId", "room:")


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
