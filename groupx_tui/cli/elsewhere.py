"""A server that is not this machine's own: at a port that is forwarded here.

The token is in a file: the runtime file of the other machine, copied, or the token alone.
Invariant: a file that other users can read is refused, and the token goes only to this machine's
loopback (`client.endpoint` sees to that). Counterpart: docs/SECURITY.md, which tells how to
forward a port.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from groupx_shared.errors import ConfigError, WorkspaceError
from groupx_shared.paths import user_state_folder
from groupx_shared.runtime import OTHERS, RuntimeFile
from groupx_shared.text import safe_line
from groupx_shared.workspace import Workspace

MAX_TOKEN_BYTES: Final = 64 * 1024


def place_of(url: str) -> Workspace:
    """The workspace that drafts and history of a window on `url` belong to. Raises: ConfigError
    when it is no address of a server."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme != "http" or not parts.hostname or not port or parts.path not in ("", "/"):
        raise ConfigError(
            f"“{safe_line(url, 200)}” is no address of a server; expected one like "
            "http://127.0.0.1:40123 (the forwarded port has the server's own number)."
        )
    folder = user_state_folder() / "elsewhere"
    return Workspace(folder / f"{parts.hostname}-{port}.json", folder, is_default=False)


def server_at(url: str, token_file: Path) -> Callable[[], RuntimeFile]:
    """Return what finds the server at `url`: it reads the token anew each time, since a server that
    starts again has another one. It raises: WorkspaceError when the file cannot be used."""

    def find() -> RuntimeFile:
        token = _token(token_file)
        return RuntimeFile(url.rstrip("/"), token, 0, "", "", "", "", "")

    return find


def _token(path: Path) -> str:
    try:
        status = path.stat()
        text = path.read_bytes()[:MAX_TOKEN_BYTES].decode("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise WorkspaceError(f"The token file {path} cannot be read: {error}.") from error
    if status.st_mode & OTHERS:
        raise WorkspaceError(
            f"The token file {path} can be read by other users (mode "
            f"{stat.S_IMODE(status.st_mode):04o}, expected 0600). Run “chmod 600 {path}”."
        )
    if text.startswith("{"):
        try:
            text = str(json.loads(text)["token"])
        except (ValueError, KeyError, TypeError) as error:
            raise WorkspaceError(f"{path} is no runtime file: it names no token.") from error
    if not text or not text.isascii() or len(text.split()) != 1:
        raise WorkspaceError(f"{path} holds no token: expected one line, or a runtime file.")
    return text
