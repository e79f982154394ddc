"""Is the server of a workspace there? Asks, changes nothing.

A server has proved itself when `/api/health` at the URL of the runtime file answers with this
workspace's scope key; only then does it get the token.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from groupx_shared.errors import ServerUnreachableError
from groupx_shared.runtime import RuntimeFile, read_runtime
from groupx_shared.version import RUNTIME_PROTOCOL
from groupx_shared.workspace import Workspace
from groupx_tui.cli.diagnostics import CommandError, ExitCode
from groupx_tui.cli.wire_http import Request, SilentError, open_reply

HEALTH_S: Final = 5.0
"""`health` costs the server nothing; a machine under heavy load may still take seconds."""

Standing = Literal["absent", "running", "starting", "closing", "gone", "foreign", "silent"]
"""absent: no runtime file · running: proved, ready · starting, closing: proved, not ready ·
gone: nobody listens there · foreign: another program listens there · silent: something listens but
does not answer."""


class Probe(NamedTuple):
    """What was found."""

    standing: Standing
    runtime: RuntimeFile | None = None
    health: dict[str, Any] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process named by the runtime file exists (it may be another one by now)."""
        return self.runtime is not None and process_exists(self.runtime.pid)


def probe(workspace: Workspace, patience_s: float = HEALTH_S) -> Probe:
    """Look for the server of `workspace`. Raises: WorkspaceError, ServerUnreachableError when the
    runtime file cannot be used."""
    runtime = read_runtime(workspace)
    if runtime is None:
        return Probe("absent")
    try:
        with open_reply(runtime.url, Request("GET", "/api/health"), lambda: patience_s) as reply:
            health = json.loads(reply.read())
    except SilentError:
        return Probe("silent", runtime)
    except ServerUnreachableError:
        return Probe("gone", runtime)
    except ValueError:
        return Probe("foreign", runtime)
    if not isinstance(health, dict) or health.get("runtimeScopeKey") != workspace.scope_key:
        return Probe("foreign", runtime)
    standing: dict[object, Standing] = {"starting": "starting", "closing": "closing"}
    return Probe(standing.get(health.get("status"), "running"), runtime, health)


def ready(found: Probe) -> RuntimeFile | None:
    """Return the runtime file when the server can be used; None when there is none yet.

    Raises: CommandError when it runs and speaks another protocol than this program.
    """
    if found.standing != "running" or found.health is None:
        return None
    spoken = found.health.get("protocol")
    if spoken != RUNTIME_PROTOCOL:
        raise CommandError(
            f"The running server speaks {spoken}, this program {RUNTIME_PROTOCOL}. "
            "Run “groupx restart”.",
            ExitCode.NO_SERVER,
        )
    return found.runtime


def process_exists(pid: int) -> bool:
    """Whether process `pid` runs; one that has ended and was not collected yet does not."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """True for a dead process that its parent has not collected: in containers nobody may ever."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False  # no /proc here (macOS), or it ended just now; the next look tells
    return stat.rpartition(b")")[2].split()[:1] == [b"Z"]
