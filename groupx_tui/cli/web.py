"""`groupx web`: the room in a browser on this machine. What serves it is loaded only here."""

from __future__ import annotations

import asyncio
import errno

from groupx_shared.ids import MAIN_ROOM
from groupx_tui.cli import diagnostics, output
from groupx_tui.cli.api import room_id
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.options import Invocation
from groupx_tui.cli.session import workspace_of

EXTRA = ("aiohttp", "textual_serve")
MISSING = (
    "The web view needs a few more packages: install them with “pip install 'groupx[web]'” "
    "(“uv tool install 'groupx[web]'”, “pipx install 'groupx[web]'”)."
)
HINT = "Open this link in a browser on this machine; it works once, for ten minutes."
MORE = "Enter: another link.   Ctrl+C: end; the server and the agents go on."


def run(call: Invocation) -> int:
    """Serve the room to browsers of this machine until Ctrl+C."""
    workspace = workspace_of(call)
    room = room_id(call.text("room") or MAIN_ROOM)
    port = call.integer("port") or 0
    try:
        import textual_serve  # noqa: F401 - its files are served

        from groupx_tui.web.serve import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in EXTRA:
            raise CommandError(MISSING, ExitCode.USAGE) from error
        raise
    config = str(workspace.config_path) if workspace.config_path.is_file() else ""

    try:
        asyncio.run(serve(config, room, port, say=diagnostics.say, show_link=_show_link))
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is taken" if error.errno == errno.EADDRINUSE else "may not be used"
        raise CommandError(
            f"Port {port} of 127.0.0.1 {why}: choose another one with --port, or leave it out "
            "for a free one.",
            ExitCode.USAGE,
        ) from error
    return ExitCode.DONE


def _show_link(link: str) -> None:
    diagnostics.say(HINT)
    output.line(link)
    output.flush()
    diagnostics.say(MORE)
