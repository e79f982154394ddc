"""Changing the workspace's config file without harm.

Invariants: a file with any error is refused and not touched; what is written was read back first
and is valid; nothing but the change differs (see `jsontext`); at every moment the file is whole,
the old one or the new one; the old one is kept beside it as `groupx.json.bak`; both can be read by
this user alone, since `env` may hold keys. One change at a time for each workspace.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from groupx_shared.config import parse_config
from groupx_shared.errors import ConfigError, ErrorCode, RefusedError, WorkspaceError
from groupx_shared.ids import AGENT_KEY_PATTERN, RESERVED_AGENT_KEYS
from groupx_shared.jsontext import unique_keys, with_value, without
from groupx_shared.names import unknown_name
from groupx_shared.paths import private_folder
from groupx_shared.runtime import runtime_path
from groupx_shared.settings import BUILTIN_DRIVER, Config
from groupx_shared.text import safe_line
from groupx_shared.workspace import Workspace

GUIDE: Final = {"guide": {"driver": BUILTIN_DRIVER, "name": "Guide"}}
"""The roster of a workspace that names none; written out before another agent joins it."""
FIRST_CONFIG: Final = {"agents": GUIDE}
"""What a workspace without a file has too; written out, so that there is something to change."""
BACKUP_SUFFIX: Final = ".bak"
LOCK_S: Final = 10.0
"""Another change takes milliseconds."""
_PAUSE_S: Final = 0.02

Change = Callable[[str, Config], str]
"""From the file's text and what it means to the changed text."""


def first_text() -> str:
    """The text of a new config file."""
    return json.dumps(FIRST_CONFIG, indent=2) + "\n"


def change_config(workspace: Workspace, change: Change) -> Config:
    """Change the workspace's file (made first, when the default workspace has none) and return
    what it means now. Nothing is written when nothing changes.

    Raises: ConfigError when the file, or what it would become, has an error; what `change` raises;
    WorkspaceError when it cannot be written.
    """
    path = Path(os.path.realpath(workspace.config_path))
    with _lock(workspace):
        raw = _read(path)
        text, encoding = _strictly(raw, path) if raw is not None else (first_text(), "utf-8")
        config = parse_config(text.encode(), path)
        try:
            changed = change(text, config)
        except ValueError as error:
            raise RefusedError(
                "There is no such setting: a key on the way to it holds a plain value."
            ) from error
        if changed == text:
            return config
        try:
            new = changed.encode(encoding)
        except UnicodeEncodeError as error:
            raise ConfigError(f"A value is not valid text: {safe_line(error.reason)}.") from error
        after = _checked(changed, path)
        private_folder(path.parent)
        if raw is not None:
            _replace(path.with_name(path.name + BACKUP_SUFFIX), raw)
        _replace(path, new)
        return after


def add_agent(key: str, settings: dict[str, Any]) -> Change:
    """The change that adds an agent. It refuses an id that is there, or cannot be one."""

    def change(text: str, config: Config) -> str:
        require_new(config, key)
        return with_value(_with_roster(text), ["agents", key], settings)

    return change


def remove_agent(key: str) -> Change:
    """The change that takes an agent out, also as the default one."""

    def change(text: str, config: Config) -> str:
        require_agent(config, key)
        text = without(_with_roster(text), ["agents", key])
        return without(text, ["defaultAgent"]) if config.default_agent == key else text

    return change


def set_agent(key: str, path: Sequence[str], value: Any) -> Change:
    """The change that sets one setting of an agent (`["env", "KEY"]`)."""

    def change(text: str, config: Config) -> str:
        require_agent(config, key)
        return with_value(_with_roster(text), ["agents", key, *path], value)

    return change


def unset_agent(key: str, path: Sequence[str]) -> Change:
    """The change that takes one setting of an agent back to its default."""

    def change(text: str, config: Config) -> str:
        require_agent(config, key)
        return without(_with_roster(text), ["agents", key, *path])

    return change


def set_setting(path: Sequence[str], value: Any) -> Change:
    """The change that sets one setting (`["limits", "queuePerAgent"]`)."""
    return lambda text, config: with_value(text, path, value)


def unset_setting(path: Sequence[str]) -> Change:
    """The change that takes one setting back to its default."""
    return lambda text, config: without(text, path)


def set_assistant(settings: dict[str, Any] | None) -> Change:
    """The change that chooses the room assistant's program (`brain`, and if wanted `name`), or
    switches it off (None)."""

    def change(text: str, config: Config) -> str:
        if settings is None:
            return with_value(text, ["assistant", "enabled"], False)
        whole = {"enabled": True, **settings}
        for key, value in whole.items():
            text = with_value(text, ["assistant", key], value)
        return text

    return change


def require_new(config: Config, key: str) -> None:
    """Raises: RefusedError when an agent cannot be called `key`, or one is."""
    if AGENT_KEY_PATTERN.match(key) is None or key in RESERVED_AGENT_KEYS:
        raise RefusedError(
            f"“{safe_line(key, 80)}” cannot be an agent's id: letters, digits, dots, dashes "
            "(at most 64), and not “assistant”."
        )
    if key in config.agents:
        raise RefusedError(
            f"There is an agent “{key}” already. Choose another id, or change it with "
            f"“groupx agents set {key} KEY=VALUE”."
        )


def require_agent(config: Config, key: str) -> None:
    """Raises: RefusedError (UNKNOWN_ACTOR) naming the nearest agent."""
    if key not in config.agents:
        raise RefusedError(unknown_name("agent", key, config.agents), code=ErrorCode.UNKNOWN_ACTOR)


def _with_roster(text: str) -> str:
    """The text with the roster written out: beside another agent, the guide is not implied."""
    return text if "agents" in json.loads(text) else with_value(text, ["agents"], GUIDE)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error


def _strictly(raw: bytes, path: Path) -> tuple[str, str]:
    """The text of a file that has no error, and its encoding. Raises: ConfigError."""
    parse_config(raw, path)
    encoding = json.detect_encoding(raw)
    text = raw.decode(encoding)
    _checked(text, path)
    return text, encoding


def _checked(text: str, path: Path) -> Config:
    """Raises: ConfigError, also for a key that is there twice: one of them would be lost."""
    try:
        json.loads(text, object_pairs_hook=unique_keys)
    except ValueError as error:
        raise ConfigError(f"{path}: {error}. Remove one of them first.") from error
    return parse_config(text.encode("utf-8", "surrogatepass"), path)


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of the file, whole and on disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WorkspaceError(
            f"{path} cannot be written: {error.strerror or error}. It is as it was."
        ) from error


@contextmanager
def _lock(workspace: Workspace) -> Iterator[None]:
    path = runtime_path(workspace).with_suffix(".edit")
    private_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise WorkspaceError(f"The file {path} cannot be written: {error.strerror}.") from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + LOCK_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise WorkspaceError(
                    f"Another program has been changing this config for {LOCK_S:.0f} s ({path})."
                ) from None
            time.sleep(_PAUSE_S)
        else:
            return
