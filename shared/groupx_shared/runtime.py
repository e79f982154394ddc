"""The runtime file: how clients find the server of a workspace, and its token.

Written by the server when it is ready, atomically, 0600 in a 0700 folder; removed when it stops.
A file that other users can read is refused: the token in it would be theirs too. Standard library
only: the hot commands read it.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from groupx_shared.errors import ServerUnreachableError, WorkspaceError
from groupx_shared.paths import private_folder, user_runtime_folder
from groupx_shared.workspace import Workspace

AGENT_VARIABLES: Final = frozenset(
    {"GROUPX_LEDGER", "GROUPX_PROCESS", "GROUPX_AGENT_URL", "GROUPX_AGENT_TOKEN"}
)
"""What a server gives its agents. A server that an agent starts must not inherit them: it would
be taken for one of the first server's agents."""

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class RuntimeFile(NamedTuple):
    """What the runtime file holds."""

    url: str
    """Like `http://127.0.0.1:40123`, no slash at the end."""
    token: str
    pid: int
    runtime_scope_key: str
    runtime_key: str
    version: str
    started_at: str
    log_file: str


def new_token() -> str:
    """Return a fresh 256-bit token."""
    import secrets  # the server's only; the hot commands read this file without it

    return secrets.token_urlsafe(32)


def runtime_path(workspace: Workspace) -> Path:
    """Path of the runtime file of `workspace`, whether or not it exists."""
    return user_runtime_folder() / f"{workspace.scope_key[:32]}.json"


def write_runtime(workspace: Workspace, runtime: RuntimeFile) -> Path:
    """Write the runtime file atomically and return its path. Raises: WorkspaceError."""
    path = runtime_path(workspace)
    private_folder(path.parent)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(runtime._asdict(), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WorkspaceError(
            f"The runtime file {path} cannot be written: {error.strerror or error}. "
            "Free space or fix the folder's permissions, or set GROUPX_HOME."
        ) from error
    return path


def read_runtime(workspace: Workspace) -> RuntimeFile | None:
    """Return the runtime file of `workspace`; None when there is none, so no server was started.

    Raises: WorkspaceError when others can read the file or it is not ours;
    ServerUnreachableError when it cannot be understood.
    """
    path = runtime_path(workspace)
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WorkspaceError(
            f"The runtime file {path} cannot be read: {error.strerror}."
        ) from error
    with os.fdopen(descriptor, encoding="utf-8") as file:
        _refuse_shared(path, os.fstat(file.fileno()))
        text = file.read(65_536)
    try:
        data = json.loads(text)
        fields = {name: data[name] for name in RuntimeFile._fields}
        return RuntimeFile(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ServerUnreachableError(
            f"The runtime file {path} is damaged or of another version. "
            "Run “groupx restart”; if that fails, delete the file."
        ) from error


def remove_runtime(workspace: Workspace, pid: int) -> None:
    """Remove the runtime file if it is that of process `pid` (a newer server's file stays)."""
    current = read_runtime(workspace)
    if current is not None and current.pid == pid:
        runtime_path(workspace).unlink(missing_ok=True)


def _refuse_shared(path: Path, status: os.stat_result) -> None:
    if status.st_mode & OTHERS:
        raise WorkspaceError(
            f"The token file {path} can be read by other users (mode {status.st_mode & 0o777:04o}, "
            f"expected 0600). Run “chmod 600 {path}” and then “groupx restart”, which makes a new "
            "token."
        )
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise WorkspaceError(f"The token file {path} belongs to another user; it is not used.")
