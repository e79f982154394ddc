"""What was found of one agent, in words that the command line only prints.

States are the words of `AgentState` where they fit (ready, needs_login, rate_limited, failed,
disabled), and `absent` (its program is not here) and `found` (it is; nobody started it).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic.alias_generators import to_camel

State = Literal["ready", "needs_login", "rate_limited", "failed", "disabled", "absent", "found"]


@dataclass(slots=True)
class Report:
    """One agent. Times in seconds; None: not known, or it did not come so far."""

    agent: str
    """Its id in the config, else the one it would get."""
    name: str
    driver: str
    configured: bool
    state: State = "found"
    program: str | None = None
    version: str | None = None
    problem: str | None = None
    """What is wrong, a sentence."""
    advice: str | None = None
    """What to do about it, or a remark; a sentence."""
    install: str | None = None
    unverified: bool = False
    """All that is known of it is from its documentation; it was never seen running."""
    start_s: float | None = None
    session_s: float | None = None
    first_event_s: float | None = None
    turn_s: float | None = None
    stop_s: float | None = None
    answer: str | None = None
    steps: int | None = None
    """Tool calls in the turn of a self-test."""
    stderr: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """As JSON, without what is not known."""
        return {
            to_camel(key): round(value, 3) if isinstance(value, float) else value
            for key, value in asdict(self).items()
            if value is not None
        }
