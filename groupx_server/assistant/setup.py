"""Which program the room assistant is, from the config.

The built-in agent takes its place when no other is named; it answers and looks things up, but
takes no tools, so it does nothing in the rooms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from groupx_server.agents.base import AgentSpec
from groupx_server.rooms.roster import resolve_spec
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import USER_ASSISTANT
from groupx_shared.settings import BUILTIN_DRIVER, AgentSettings, BrainSettings, Config
from groupx_shared.text import safe_line

DEFAULT_NAME: Final = "Room assistant"
HOW_TO_SET_UP: Final = (
    "The room assistant is off. Switch it on with “groupx assistant use DRIVER” (codex, claude, "
    "gemini … or builtin), or with assistant.enabled and assistant.brain.driver in groupx.json."
)


@dataclass(frozen=True, slots=True)
class Setup:
    """An assistant that is switched on."""

    name: str
    spec: AgentSpec
    instructions: str = ""
    """What the person added to its instructions."""

    @property
    def driver(self) -> str:
        return self.spec.driver


def read_setup(
    config: Config,
    root: Path,
    builtin_env: Mapping[str, str] | None = None,
    common_env: Mapping[str, str] | None = None,
) -> Setup | None:
    """What the config says; None when it is switched off."""
    settings = config.assistant
    if not settings.enabled:
        return None
    brain = settings.brain or BrainSettings()
    chosen = AgentSettings(
        driver=brain.driver or BUILTIN_DRIVER,
        command=brain.command,
        cwd=brain.cwd,
        env=brain.env,
        options=brain.options,
        model=brain.model,
    )
    spec = resolve_spec(
        USER_ASSISTANT,
        chosen,
        config.timeouts,
        root,
        builtin_env=builtin_env,
        common_env=common_env,
    )
    return Setup(
        name=safe_line(settings.name or DEFAULT_NAME, 64),
        spec=spec,
        instructions=settings.extra_instructions or "",
    )


def is_off() -> RefusedError:
    """The refusal that says how to switch it on."""
    return RefusedError(HOW_TO_SET_UP, code=ErrorCode.AGENT_DISABLED)
