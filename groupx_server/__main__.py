"""`groupx-server` and `python -m groupx_server`: arguments, signals, exit code; nothing else.

Exit codes: 0 stopped cleanly · 2 wrong usage · 3 cannot start (one sentence on stderr).
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Final

from groupx_shared.errors import GroupXError
from groupx_shared.version import VERSION
from groupx_shared.workspace import Workspace, default_workspace, find_workspace

EXIT_CANNOT_START: Final = 3
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server until a stop signal or a shutdown request; return the exit code."""
    options = _parse(arguments)
    try:
        workspace = _workspace(options)
        return _run(workspace, in_foreground=options.foreground)
    except GroupXError as error:
        print(f"groupx-server: {error.message}", file=sys.stderr)  # noqa: T201 - its only output
        return EXIT_CANNOT_START


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="groupx-server", description="The headless GroupX server of one workspace."
    )
    parser.add_argument("--config", metavar="FILE", help="config file; default: discovery")
    parser.add_argument(
        "--default-workspace", action="store_true", help="use the user's default workspace"
    )
    parser.add_argument(
        "--foreground", action="store_true", help="log to stderr too, end with the terminal"
    )
    parser.add_argument("--version", action="version", version=f"groupx-server {VERSION}")
    return parser.parse_args(arguments)


def _workspace(options: argparse.Namespace) -> Workspace:
    return default_workspace() if options.default_workspace else find_workspace(options.config)


def _run(workspace: Workspace, *, in_foreground: bool) -> int:
    from groupx_server.http.serve import loop_factory

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_serve(workspace, in_foreground=in_foreground))


async def _serve(workspace: Workspace, *, in_foreground: bool) -> int:
    from groupx_server.app import run_server

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        # In the background a closed terminal is no reason to end. A handler that does nothing,
        # since "ignore" would be inherited by the agents.
        keeps_on = number is signal.SIGHUP and not in_foreground
        loop.add_signal_handler(number, _keep_on if keeps_on else stop.set)
    await run_server(workspace, stop, in_foreground=in_foreground)
    return 0


def _keep_on() -> None:
    """Taken instead of the signal's default, which would end the server."""


if __name__ == "__main__":
    raise SystemExit(main())
