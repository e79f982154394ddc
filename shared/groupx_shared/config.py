"""How the config file `groupx.json` is read.

| who | reads |
|---|---|
| server at start | all of it |
| CLI | only the path (see `workspace`) |
| `groupx doctor`, and `status` when the file is newer than the server's start | all of it |
| `groupx init` | nothing; it writes a new file |
| `groupx agents add`, `remove` … | all of it, before and after the change (`configedit`) |
| server at `POST /api/runtime/reload` | all of it |

Paths in it are relative to the file. An error names the file, the key, what was found and
expected, and the nearest key.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from groupx_shared.errors import ConfigError
from groupx_shared.names import nearest
from groupx_shared.settings import (
    AgentSettings,
    AssistantSettings,
    BackupSettings,
    BrainSettings,
    CommandSettings,
    Config,
    LimitSettings,
    ModelSettings,
    ServerSettings,
    Setting,
    StorageSettings,
    TimeoutSettings,
)
from groupx_shared.workspace import Workspace

MAX_CONFIG_BYTES: Final = 4 * 1024 * 1024


def load_config(workspace: Workspace) -> Config:
    """Read the workspace's config; the defaults when the default workspace has no file.

    Raises: ConfigError naming file, key, what was found and expected.
    """
    path = workspace.config_path
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Config()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    return parse_config(raw, path)


def database_path(workspace: Workspace, config: Config) -> Path:
    """Where the ledger of `workspace` is (it need not exist)."""
    if config.storage.path is None:
        return workspace.data_folder / "groupx.db"
    return workspace.root / Path(config.storage.path).expanduser()


def parse_config(raw: bytes, path: Path) -> Config:
    """Parse the bytes of a config file. Raises: ConfigError."""
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path} is larger than 4 MiB; a config file is small JSON.")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(f"{path} is not valid JSON{where}: {error}.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected one JSON object, found {type(data).__name__}.")
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from error


def runtime_key(workspace: Workspace, config: Config) -> str:
    """SHA-256 hex over the canonical path and settings: tells a client that the file changed
    since the server started."""
    content = {
        "configPath": str(workspace.config_path),
        "config": config.model_dump(mode="json", by_alias=True),
    }
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _explain(error: ValidationError, path: Path) -> str:
    lines = []
    for problem in error.errors()[:5]:
        location = [str(part) for part in problem["loc"]]
        lines.append(f"{path}: {_problem(location, dict(problem))}")
    more = error.error_count() - len(lines)
    return "\n".join(lines) + (f"\n… and {more} more." if more > 0 else "")


def _problem(location: list[str], problem: dict[str, Any]) -> str:
    key = ".".join(location) or "(the file)"
    if problem["type"] == "extra_forbidden":
        near = nearest(location[-1], _known_keys(location[:-1]))
        hint = f" Did you mean “{near}”?" if near else ""
        return f"{key}: no such key.{hint}"
    if problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    found = json.dumps(problem.get("input"), default=str)[:80]
    return f"{key}: {problem['msg']}; found {found}."


def _known_keys(parents: list[str]) -> list[str]:
    """Wire names of the settings model that `parents` leads to."""
    models: dict[str, type[Setting]] = {
        "server": ServerSettings,
        "storage": StorageSettings,
        "backups": BackupSettings,
        "agents": AgentSettings,
        "command": CommandSettings,
        "model": ModelSettings,
        "assistant": AssistantSettings,
        "brain": BrainSettings,
        "limits": LimitSettings,
        "timeouts": TimeoutSettings,
    }
    model: type[Setting] = next(
        (models[name] for name in reversed(parents) if name in models), Config
    )
    return [field.alias or name for name, field in model.model_fields.items()]
