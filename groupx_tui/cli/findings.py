"""What a check of `groupx doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["ok", "warning", "error", "absent"]
"""absent: a known agent's program that is not on this machine, and that no config asks for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result, in one sentence."""

    check: str
    level: Level
    text: str
    agent: dict[str, Any] | None = None
    """All that is known of the agent that it is about."""
