"""Which workspace: a config file, found without reading it. Standard library only.

Discovery (ARCHITECTURE §2): `--config`, else `groupx.json` upward from the current folder, else
the user's default workspace, whose file need not exist. Two keys follow from the path: the
`scope_key` names the workspace (the runtime file is called by it); the server adds a
`runtime_key` over path and content.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from groupx_shared.errors import ConfigError
from groupx_shared.paths import user_data_folder

CONFIG_NAME = "groupx.json"
DATA_FOLDER = ".groupx"


class Workspace(NamedTuple):
    """One workspace: its config file (canonical path, may not exist) and its data folder."""

    config_path: Path
    data_folder: Path
    is_default: bool

    @property
    def scope_key(self) -> str:
        """SHA-256 hex of the canonical config path: the same for every start of this workspace."""
        canonical = json.dumps({"configPath": str(self.config_path)}, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def root(self) -> Path:
        """Folder that relative paths in the config start from, and agents' default cwd."""
        return self.config_path.parent


def find_workspace(config: str | Path | None, cwd: Path | None = None) -> Workspace:
    """Return the workspace for `--config` (a file, or a folder that holds `groupx.json`), else
    found upward from `cwd`, else the default one.

    Raises: ConfigError when `config` is given and does not exist.
    """
    if config is not None:
        return _named(Path(config).expanduser())
    start = (cwd or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / CONFIG_NAME).is_file():
            return _project(folder / CONFIG_NAME)
    return default_workspace()


def default_workspace() -> Workspace:
    """The user's default workspace, whose config file need not exist."""
    home = user_data_folder().resolve()
    return Workspace(home / CONFIG_NAME, home, is_default=True)


def _named(path: Path) -> Workspace:
    if path.is_dir():
        path = path / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(
            f"There is no config file {path}. Make one with “groupx init”, or leave --config out "
            "to use the default workspace."
        )
    return _project(path)


def _project(path: Path) -> Workspace:
    path = path.resolve()
    home = user_data_folder().resolve()
    if path.parent == home:
        return Workspace(path, home, is_default=True)
    return Workspace(path, path.parent / DATA_FOLDER, is_default=False)
