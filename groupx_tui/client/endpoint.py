"""Where the server is now: read from the runtime file again whenever it may have moved.

The invariant: the token goes only to a loopback address. Counterpart: `groupx_shared.runtime`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from urllib.parse import urlsplit

from groupx_shared.errors import ServerUnreachableError, WorkspaceError
from groupx_shared.runtime import RuntimeFile, read_runtime
from groupx_shared.workspace import Workspace
from groupx_tui.client.refusals import REACHED

FindServer = Callable[[], RuntimeFile | None]
"""Returns where the server is now; None when none runs. May raise WorkspaceError or
ServerUnreachableError (a runtime file that cannot be used)."""


class Endpoint:
    """The address and token to use, shared by all connections of one client."""

    def __init__(self, find_server: FindServer) -> None:
        self._find = find_server
        self._current: RuntimeFile | None = None

    @classmethod
    def of_workspace(cls, workspace: Workspace) -> Endpoint:
        """Return the endpoint that follows the runtime file of `workspace`."""
        return cls(lambda: read_runtime(workspace))

    @property
    def is_found(self) -> bool:
        """Whether a server was there when it was last looked for."""
        return self._current is not None

    def current(self) -> RuntimeFile:
        """Return the server last found, or look for it.

        Raises: ServerUnreachableError when none runs; WorkspaceError when its file is not safe.
        """
        if self._current is None:
            self.refresh()
        if self._current is None:
            raise ServerUnreachableError(
                "No GroupX server runs for this workspace. Start it with “groupx serve”, or just "
                "“groupx”.",
                details={REACHED: False},
            )
        return self._current

    def refresh(self) -> bool:
        """Look for the server again; True when it has another address or token than before.

        Raises: as `current`, except that no server gives True or False like any other change.
        """
        found = self._find()
        if found is not None:
            _refuse_remote(found.url)
        before, self._current = self._current, found
        return found != before


def _refuse_remote(url: str) -> None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "http" and (host == "localhost" or _is_loopback(host)):
        return
    raise WorkspaceError(
        f"The runtime file names the server {url!r}; only http on this machine's loopback "
        "(127.0.0.1, ::1) is used. Run “groupx restart”."
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
