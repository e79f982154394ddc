"""From a command line to its workspace and its server."""

from __future__ import annotations

from groupx_shared.errors import ConfigError
from groupx_shared.workspace import Workspace, find_workspace
from groupx_tui.cli.api import Api
from groupx_tui.cli.clock import Clock
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.probe import probe, ready


def workspace_of(call: Invocation) -> Workspace:
    """Return the workspace that the command line means. Raises: CommandError (usage)."""
    try:
        return find_workspace(call.text("config"))
    except ConfigError as error:
        raise CommandError(error.message, ExitCode.USAGE) from error


def connect(call: Invocation) -> Api:
    """Return the API of the workspace's server, started in the background if need be.

    Raises: CommandError when it cannot be started; WorkspaceError, ServerUnreachableError.
    """
    workspace = workspace_of(call)
    runtime = ready(probe(workspace))
    if runtime is None:
        from groupx_tui.cli.launch import ensure_server

        runtime = ensure_server(workspace, Clock())
    return Api(workspace, runtime)
