"""An agent's card: what it is and how it is, the same words in JSON, command line and terminal."""

from __future__ import annotations

from typing import Literal

from groupx_shared.wire.base import WireModel

AgentState = Literal[
    "disabled",
    "stopped",
    "starting",
    "ready",
    "working",
    "waiting",
    "rate_limited",
    "needs_login",
    "retrying",
    "failed",
]
"""disabled: switched off in the config · stopped: starts when it is needed · ready: idle ·
working: a turn runs · waiting: a turn runs and the agent is silent · rate_limited: its last turn
met a limit of its vendor (`untilIso`: when that ends, if it told) · needs_login: nobody is signed
in, or its key is refused · retrying: it died and is started again (`untilIso`: when) · failed: it
cannot start (detail says why). Only from what program and protocol say, never guessed."""


class AgentInfo(WireModel):
    """One agent's card."""

    actor_id: str
    display_name: str
    driver: str
    enabled: bool
    status: AgentState
    detail: str | None = None
    """Why it is in this state and what to do, in one sentence."""
    until_iso: str | None = None
    """When a limit ends or the program is started again; UTC, milliseconds."""
    cwd: str
    command: str | None = None
    agent_name: str | None = None
    agent_version: str | None = None
    model: str | None = None
    """The model that works for it, as it told at its last turn, else as the config names it;
    absent when nobody says."""
    queued_turns: int = 0
    active_turn_id: str | None = None
    is_default: bool = False
