"""Agents of the config, read and changed by the assistant: safely, once, and in force at once.

The file is changed as by `groupx agents`; then the config is read again. The same act again gives
the first result and touches nothing. Values of `env` are never told: they may be secrets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.assistant.acts import Act, Acts, Done
from groupx_shared.configedit import (
    Change,
    add_agent,
    change_config,
    remove_agent,
    set_agent,
    unset_agent,
)
from groupx_shared.errors import ConfigError, ErrorCode, RefusedError
from groupx_shared.settings import AgentSettings, Config
from groupx_shared.wire.replies import ReloadReply
from groupx_shared.workspace import Workspace

HIDDEN: Final = "(not told)"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where settings come from, and how they are taken over."""

    workspace: Workspace
    load: Callable[[], Config]
    """Raises: ConfigError."""
    reload: Callable[[str], Awaitable[ReloadReply]]
    """Takes the changed file over; the text is a command's id."""


class Configuring:
    """The config file of this workspace."""

    def __init__(self, acts: Acts, settings: Settings) -> None:
        self._acts = acts
        self._settings = settings

    async def read(self) -> Mapping[str, Any]:
        """Agents and limits as the file says. Raises: RefusedError (CONFIG_INVALID)."""
        self._acts.require_request()
        try:
            config = await asyncio.to_thread(self._settings.load)
        except ConfigError as error:
            raise RefusedError(error.message, code=ErrorCode.CONFIG_INVALID) from error
        agents = {key: _told(settings) for key, settings in config.agents.items()}
        return {
            "configPath": str(self._settings.workspace.config_path),
            "defaultAgent": config.default_agent,
            "agents": agents,
            "limits": config.limits.model_dump(mode="json", by_alias=True),
        }

    async def save_agent(
        self, command_id: str, agent: str, settings: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Add an agent, or change these settings of one (null takes the default).

        Raises: RefusedError.
        """
        key = agent.removeprefix("agent:")
        given = dict(settings)
        act = Act("agent_save", command_id, {"agent": key, "settings": given})
        return await self._change(act, _saving(key, given), f"saved the agent {key}", key)

    async def remove_agent(self, command_id: str, agent: str) -> Mapping[str, Any]:
        """Take an agent out of the config. Raises: RefusedError (UNKNOWN_ACTOR)."""
        key = agent.removeprefix("agent:")
        act = Act("agent_remove", command_id, {"agent": key})
        return await self._change(act, remove_agent(key), f"removed the agent {key}", key)

    async def _change(self, act: Act, change: Change, summary: str, key: str) -> Mapping[str, Any]:
        before = await self._acts.done_before(act)
        if before is not None:
            return before
        request = self._acts.require_request()
        try:
            await asyncio.to_thread(change_config, self._settings.workspace, change)
        except ConfigError as error:
            raise RefusedError(
                f"{error.message} Nothing was changed.", code=ErrorCode.CONFIG_INVALID
            ) from error
        reply = await self._settings.reload(f"{request.message_id}/{act.command_id}/reload")
        result = {"agent": key, "reload": reply.model_dump(mode="json", by_alias=True)}
        subject = f"agent:{key}"
        return await self._acts.perform(act, lambda *_: Done(summary, result, subject))


def _saving(key: str, settings: Mapping[str, Any]) -> Change:
    def change(text: str, config: Config) -> str:
        if key not in config.agents:
            return add_agent(key, {k: v for k, v in settings.items() if v is not None})(
                text, config
            )
        for name, value in settings.items():
            step = unset_agent(key, [name]) if value is None else set_agent(key, [name], value)
            text = step(text, config)
        return text

    return change


def _told(settings: AgentSettings) -> dict[str, Any]:
    told = settings.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if "env" in told:
        told["env"] = dict.fromkeys(told["env"], HIDDEN)
    return told
