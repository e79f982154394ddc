"""From the name of a driver to a driver.

Owns the table of names: `acp` (any command), `claude` and `codex` (their own protocols), `builtin`
(our own agent), the presets of known programs. Invariant: an unknown name is an error that names
the nearest known one. The counterpart is `host.AgentHost`, which takes a registry as its factory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from groupx_server.agents.acp_driver import AcpDriver
from groupx_server.agents.base import AgentSpec, Driver, DriverFactory
from groupx_server.agents.catalogue import known_agent
from groupx_server.agents.claude_driver import ClaudeDriver
from groupx_server.agents.clock import Clock
from groupx_server.agents.codex_driver import CodexDriver
from groupx_server.agents.codex_setup import PROGRAM as CODEX
from groupx_server.agents.local_model import LOCAL_VARIABLE, LocalModelDriver, SharedModel
from groupx_server.agents.presets import PRESETS, Preset, apply_preset
from groupx_server.agents.programs import program_of, with_program
from groupx_server.agents.watchdog import Guard
from groupx_shared.errors import AgentError, ErrorCode
from groupx_shared.names import unknown_name

_BUILTIN_ARGV: Final = ("-P", "-m", "groupx_server.builtin_agent")
"""-P: a folder that an agent works in must not shadow modules of the built-in agent."""


class DriverRegistry:
    """Builds drivers by name; itself a `DriverFactory`."""

    def __init__(self, guard: Guard, clock: Clock | None = None) -> None:
        self._guard = guard
        self._local_model = SharedModel(guard)
        self._clock = clock
        self._factories: dict[str, DriverFactory] = {
            "acp": self._acp,
            "builtin": self._builtin,
            "claude": self._claude,
            "codex": self._codex,
            **{name: partial(self._preset, name, preset) for name, preset in PRESETS.items()},
        }

    @property
    def names(self) -> list[str]:
        """All known names, in order."""
        return sorted(self._factories)

    def register(self, name: str, factory: DriverFactory) -> None:
        """Add a driver, or put another one in the place of a preset."""
        self._factories[name] = factory

    def __call__(self, spec: AgentSpec) -> Driver:
        """Build the driver of an agent; nothing is started.

        Raises: AgentError (ADAPTER_NOT_FOUND), ConfigError for wrong options.
        """
        factory: Callable[[AgentSpec], Driver] | None = self._factories.get(spec.driver)
        if factory is None:
            raise AgentError(
                f"{unknown_name('driver', spec.driver, self._factories)} Set `driver` of "
                f"{spec.actor_id} in the settings; “acp” runs any program that speaks ACP.",
                code=ErrorCode.ADAPTER_NOT_FOUND,
            )
        return factory(spec)

    def _acp(self, spec: AgentSpec) -> Driver:
        return AcpDriver(spec, self._guard, self._clock)

    def _claude(self, spec: AgentSpec) -> Driver:
        return ClaudeDriver(spec, self._guard, self._clock)

    def _codex(self, spec: AgentSpec) -> Driver:
        named = replace(spec, argv=list(spec.argv) or [CODEX])
        found = program_of(named, known_agent("codex"), os.environ)
        whole = with_program(named, found, os.environ)
        return CodexDriver(whole, self._guard, self._clock).of(known_agent("codex"), found)

    def _builtin(self, spec: AgentSpec) -> Driver:
        if spec.env.get(LOCAL_VARIABLE) == "1":
            return LocalModelDriver(spec, self._local_model, self._builtin_agent)
        return self._builtin_agent(spec)

    def _builtin_agent(self, spec: AgentSpec) -> Driver:
        argv = list(spec.argv) or [sys.executable, *_BUILTIN_ARGV]
        # Our own agent says everything before its answer: there is nothing to wait for.
        return self._acp(replace(spec, argv=argv, options={"settle_s": 0, **spec.options}))

    def _preset(self, name: str, preset: Preset, spec: AgentSpec) -> Driver:
        known, applied = known_agent(name), apply_preset(preset, spec)
        found = program_of(applied, known, os.environ)
        whole = with_program(applied, found, os.environ)
        if known is not None:
            whole = replace(whole, options={"sign_in": known.login, **whole.options})
        return AcpDriver(whole, self._guard, self._clock).of(known, found)
