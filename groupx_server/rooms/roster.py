"""The roster: the agents of the config, resolved to what is started and how."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groupx_server.agents.base import MODEL_CHARS, AgentSpec, AgentTimeouts
from groupx_server.logs import get_logger
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import agent_actor
from groupx_shared.names import unknown_name
from groupx_shared.settings import (
    BUILTIN_DRIVER,
    AgentSettings,
    CommandSettings,
    Config,
    TimeoutSettings,
)
from groupx_shared.text import safe_line

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One configured agent."""

    actor_id: str
    display_name: str
    driver: str
    identity: str | None
    enabled: bool
    spec: AgentSpec
    has_dated_memory: bool = True
    """It writes down what its days held."""
    model: str = ""
    """The model that the config names; empty when it names none."""

    @property
    def handle(self) -> str:
        """The id without `agent:`, as people type it."""
        return self.actor_id.removeprefix("agent:")


class Roster:
    """All configured agents, in config order."""

    def __init__(self, entries: list[RosterEntry], default_actor_id: str | None) -> None:
        self.entries = {entry.actor_id: entry for entry in entries}
        self.default_actor_id = default_actor_id

    def resolve(self, name: str) -> RosterEntry:
        """The agent called `codex` or `agent:codex`, if it takes messages.

        Raises: RefusedError (UNKNOWN_TARGET naming the nearest, AGENT_DISABLED).
        """
        entry = self.entries.get(agent_actor(name))
        if entry is None:
            handles = [known.handle for known in self.entries.values()]
            raise RefusedError(
                unknown_name("agent", name.removeprefix("agent:"), handles),
                code=ErrorCode.UNKNOWN_TARGET,
                details={"unknownTargets": [safe_line(name, 256)]},
            )
        if not entry.enabled:
            raise RefusedError(
                f"{entry.display_name} is switched off. Switch it on with “groupx agents enable "
                f"{entry.handle}”.",
                code=ErrorCode.AGENT_DISABLED,
            )
        return entry


def build_roster(
    config: Config,
    root: Path,
    *,
    builtin_env: Mapping[str, str] | None = None,
    common_env: Mapping[str, str] | None = None,
) -> Roster:
    """Resolve the config's agents. `root` is where relative folders start; `builtin_env` goes to
    the built-in agent (the server's address and a token that may only read), `common_env` to all
    (the mark of this ledger's agents)."""
    entries = []
    for key, settings in config.agents.items():
        named = settings.model_copy(update={"driver": settings.driver or key})
        spec = resolve_spec(
            agent_actor(key),
            named,
            config.timeouts,
            root,
            builtin_env=builtin_env,
            common_env=common_env,
        )
        entries.append(_entry(key, settings, spec))
    default = config.default_agent or next((e.handle for e in entries if e.enabled), None)
    return Roster(entries, None if default is None else agent_actor(default))


def resolve_spec(
    actor_id: str,
    settings: AgentSettings,
    timeouts: TimeoutSettings,
    root: Path,
    *,
    builtin_env: Mapping[str, str] | None = None,
    common_env: Mapping[str, str] | None = None,
) -> AgentSpec:
    """What to start for settings that name their driver; the rest as in `build_roster`."""
    driver = settings.driver or BUILTIN_DRIVER
    env = {**(common_env or {})}
    if driver == BUILTIN_DRIVER:
        env |= {**(builtin_env or {}), **_model_env(settings)}
    return AgentSpec(
        actor_id=actor_id,
        driver=driver,
        argv=_argv(settings.command),
        cwd=(root / Path(settings.cwd).expanduser()).resolve(),
        env={**env, **settings.env},
        options=settings.options,
        timeouts=_timeouts(timeouts),
    )


def _entry(key: str, settings: AgentSettings, spec: AgentSpec) -> RosterEntry:
    return RosterEntry(
        actor_id=agent_actor(key),
        display_name=safe_line(settings.name or key, 64),
        driver=spec.driver,
        identity=settings.identity,
        has_dated_memory=settings.dated_memory,
        enabled=settings.enabled,
        spec=spec,
        model=_configured_model(spec),
    )


def _configured_model(spec: AgentSpec) -> str:
    """As an option of the driver, or what the built-in agent is told."""
    option = spec.options.get("model")
    if isinstance(option, str):
        return safe_line(option, MODEL_CHARS)
    if spec.env.get("GROUPX_MODEL_LOCAL") == "1":
        return "the local model"
    return safe_line(spec.env.get("GROUPX_MODEL_NAME", ""), MODEL_CHARS)


def _argv(command: str | CommandSettings | None) -> list[str]:
    if command is None:
        return []
    if isinstance(command, str):
        # A path with spaces is one word when such a file exists, else words as in a shell.
        return [command] if Path(command).expanduser().exists() else shlex.split(command)
    return [command.executable, *command.prefix_args, *command.args]


def _model_env(settings: AgentSettings) -> dict[str, str]:
    """Environment of the built-in agent (docs/BUILTIN_AGENT.md): what the user's shell says of the
    model, and over it what the config says."""
    env = {name: value for name, value in os.environ.items() if name.startswith("GROUPX_MODEL_")}
    if env.get("GROUPX_MODEL_FROM_OPENAI_ENV") == "1":
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL")
        env |= {name: os.environ[name] for name in names if name in os.environ}
    model = settings.model
    if model is None:
        return env
    if model.local:
        env["GROUPX_MODEL_LOCAL"] = "1"
    if not model.discovery:
        env["GROUPX_MODEL_DISCOVERY"] = "0"
    if model.base_url is not None:
        env["GROUPX_MODEL_BASE_URL"] = model.base_url
    if model.name is not None:
        env["GROUPX_MODEL_NAME"] = model.name
    if model.api_key_env is not None:
        env |= _model_key(model.api_key_env)
    return env


def _model_key(variable: str) -> dict[str, str]:
    if (key := os.environ.get(variable)) is not None:
        return {"GROUPX_MODEL_API_KEY": key}
    log.warning("model.key_missing", variable=variable)
    return {}


def _timeouts(settings: TimeoutSettings) -> AgentTimeouts:
    return AgentTimeouts(
        handshake_s=settings.handshake_ms / 1000,
        request_s=settings.request_ms / 1000,
        first_event_s=settings.first_event_ms / 1000,
        idle_s=settings.idle_ms / 1000,
        cancel_s=settings.cancel_ms / 1000,
        close_s=settings.close_ms / 1000,
    )
