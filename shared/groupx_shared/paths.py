"""Where things live: the only module that knows a folder of the machine.

| what | where |
|---|---|
| a project workspace | `groupx.json` in a folder; its data in `.groupx/` beside it |
| the default workspace | `<user data>/groupx/groupx.json` (need not exist), data beside it |
| the runtime file and token | `<user state>/groupx/run/<scope key>.json`, 0600 in a 0700 folder |
| logs | `<data folder>/logs/` |
| the client's own state (drafts, history, chosen theme) | `<user state>/groupx/` |

`GROUPX_HOME` replaces all user folders by one (tests, portable installs).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from groupx_shared.errors import WorkspaceError

APP = "groupx"
_XDG: Final = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "config": ("XDG_CONFIG_HOME", ".config"),
}


def _user_folder(kind: str) -> Path:
    if home := os.environ.get("GROUPX_HOME"):
        return Path(home).expanduser() / kind
    if (base := _xdg_base(kind)) is not None:
        return base / APP
    import platformdirs

    folders = {
        "data": platformdirs.user_data_path,
        "state": platformdirs.user_state_path,
        "config": platformdirs.user_config_path,
    }
    return folders[kind](APP, appauthor=False)


def _xdg_base(kind: str) -> Path | None:
    """The base folder on Linux (XDG Base Directory Specification); None leaves it to platformdirs.

    The same answer as platformdirs gives (tested), which would take a fifth of a hot command's
    start to load.
    """
    if sys.platform != "linux":
        return None
    variable, default = _XDG[kind]
    base, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if base.startswith("/"):
        return Path(base)
    return Path(home, default) if home.startswith("/") else None


def user_data_folder() -> Path:
    """Folder of the default workspace and its ledger."""
    return _user_folder("data")


def user_runtime_folder() -> Path:
    """Folder of the runtime files: one for each running server of this user.

    Not the platform's runtime folder: that one depends on the session (XDG_RUNTIME_DIR is set in
    one shell and not in another), and a client that looks elsewhere would not find the server.
    """
    return _user_folder("state") / "run"


def user_state_folder() -> Path:
    """Folder of the clients' own state: drafts, input history, chosen theme."""
    return _user_folder("state")


def user_themes_folder() -> Path:
    """Folder where a user's own themes are looked for."""
    return _user_folder("config") / "themes"


def private_folder(path: Path) -> Path:
    """Make `path` (and parents) if needed, readable by this user only, and return it.

    Raises: WorkspaceError when it cannot be made, or belongs to another user.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise WorkspaceError(
            f"The folder {path} cannot be used: {error.strerror or error}. "
            "Check its permissions, or set GROUPX_HOME to a folder of yours."
        ) from error
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise WorkspaceError(
            f"The folder {path} belongs to another user (uid {status.st_uid}). "
            "Set GROUPX_HOME to a folder of yours."
        )
    return path
