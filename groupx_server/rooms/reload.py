"""Taking a changed config over while the server runs.

The file is read again; agents that were added, removed, switched, changed are taken over without
touching the turns of the others (see `seat`). Invariants: a file with an error changes nothing;
what counts only after a restart is named, and the old value goes on; one reload at a time.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from groupx_server.domain.limits import Limits
from groupx_server.ledger.commands import once
from groupx_server.ledger.startup import RosterRow, take_roster
from groupx_server.logs import get_logger
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.roster import Roster, RosterEntry
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import ConfigError, ErrorCode, RefusedError
from groupx_shared.settings import RESTART_LIMITS, RESTART_SECTIONS, Config, LimitSettings
from groupx_shared.wire.replies import ReloadReply

COMMAND: Final = "runtime.reload"

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """Where settings come from and what they mean here."""

    load: Callable[[], Config]
    """Raises: ConfigError."""
    roster_of: Callable[[Config], Roster]
    limits_of: Callable[[LimitSettings], Limits]
    on_taken: Callable[[Config], None] = lambda _: None
    """Called with what counts from now on."""


class Reloader:
    """Holds the config that counts."""

    def __init__(
        self, runtime: Runtime, agents: Agents, source: ConfigSource, config: Config
    ) -> None:
        self._runtime = runtime
        self._agents = agents
        self._source = source
        self._config = config
        self._one = asyncio.Lock()

    async def reload(self, client_command_id: str) -> ReloadReply:
        """Read the file again and take over what can be; the same command again does nothing.

        Raises: RefusedError (CONFIG_INVALID, CLIENT_COMMAND_CONFLICT, SHUTTING_DOWN).
        """
        async with self._one:
            try:
                new = await asyncio.to_thread(self._source.load)
            except ConfigError as error:
                raise RefusedError(
                    f"{error.message} The server goes on with what it read before.",
                    code=ErrorCode.CONFIG_INVALID,
                ) from error
            config = _without_restart(self._config, new)
            roster = self._source.roster_of(config)
            reply = self._reply(new, roster)
            stored = await self._store(client_command_id, roster, reply)
            if stored is not None:
                return stored
            self._agents.replace(roster)
            self._runtime.limits = self._source.limits_of(config.limits)
            self._runtime.ask_s = config.timeouts.ask_ms / 1000
            self._config = config
            self._source.on_taken(config)
            log.info("config.reloaded", **reply.model_dump(exclude_defaults=True))
            return reply

    def _reply(self, new: Config, roster: Roster) -> ReloadReply:
        before, after = self._agents.roster.entries, roster.entries
        both = [(before[key], after[key]) for key in after if key in before]
        removed = [key for key in before if key not in after]
        disabled = [new.actor_id for old, new in both if old.enabled and not new.enabled]
        changed = [new.actor_id for old, new in both if old != new and old.enabled == new.enabled]
        other_program = [new.actor_id for old, new in both if _needs_program(old, new)]
        settings = set(_changed(self._config, new))
        later = {name for name in settings if _needs_restart(name)}
        return ReloadReply(
            added=tuple(key for key in after if key not in before),
            removed=tuple(removed),
            enabled=tuple(new.actor_id for old, new in both if new.enabled and not old.enabled),
            disabled=tuple(disabled),
            changed=tuple(changed),
            finishing=tuple(self._agents.busy([*removed, *disabled, *other_program])),
            settings=tuple(sorted(settings - later)),
            restart_required=tuple(sorted(later)),
        )

    async def _store(
        self, client_command_id: str, roster: Roster, reply: ReloadReply
    ) -> ReloadReply | None:
        """Bring the rows of the actors up to date; the first reply when this is a repetition."""
        now = self._runtime.clock.now()
        rows = [
            RosterRow(entry.actor_id, entry.display_name, entry.enabled)
            for entry in roster.entries.values()
        ]
        is_new = False

        def step(connection: sqlite3.Connection) -> dict[str, Any]:
            nonlocal is_new

            def act() -> dict[str, Any]:
                nonlocal is_new
                is_new = True
                take_roster(connection, rows, now)
                return reply.model_dump(mode="json", by_alias=True)

            return once(connection, client_command_id, COMMAND, {}, act, now)

        stored = await self._runtime.ledger.write(step)
        return None if is_new else ReloadReply.model_validate(stored)


def _needs_program(old: RosterEntry, new: RosterEntry) -> bool:
    return old.enabled and new.enabled and old.spec != new.spec


def _without_restart(old: Config, new: Config) -> Config:
    """The new config, with the old values of what counts only after a restart."""
    kept: dict[str, Any] = {name: getattr(old, name) for name in RESTART_SECTIONS}
    limits = {name: getattr(old.limits, name) for name in RESTART_LIMITS}
    return new.model_copy(update={**kept, "limits": new.limits.model_copy(update=limits)})


def _needs_restart(name: str) -> bool:
    section, _, key = name.partition(".")
    fields = LimitSettings.model_fields
    late = {fields[each].alias for each in RESTART_LIMITS}
    return section in RESTART_SECTIONS or (section == "limits" and key in late)


def _changed(old: Config, new: Config) -> Iterator[str]:
    """Names of the settings that differ, but for the agents', which are told by agent."""
    before, after = (config.model_dump(mode="json", by_alias=True) for config in (old, new))
    for section, values in after.items():
        if section == "agents":
            continue
        if not isinstance(values, dict):
            if values != before[section]:
                yield section
            continue
        for key, value in values.items():
            if value != before[section][key]:
                yield f"{section}.{key}"
