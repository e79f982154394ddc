"""What the server says of itself, and the one thing a client may do to it: ask it to stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from groupx_shared.wire.replies import HealthReply

Readiness = Literal["starting", "ok", "closing"]


def _no_problem() -> str | None:
    return None


@dataclass(slots=True)
class ServerState:
    """Shared by the composition root, which changes it, and the HTTP layer, which reads it."""

    port: int
    """The port that requests must name in Host and Origin."""
    runtime_scope_key: str
    runtime_key: str
    readiness: Readiness = "starting"
    problem: Callable[[], str | None] = _no_problem
    """What is wrong with the ledger, for people; it must name no folder and cost nothing, since
    `GET /api/health` calls it for everybody."""
    streams_end: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: every open stream ends at once."""
    started_s: float = field(default_factory=time.monotonic)

    def close(self) -> None:
        """Refuse all but health from now on and end the streams."""
        self.readiness = "closing"
        self.streams_end.set()

    def health(self) -> HealthReply:
        """The reply of `GET /api/health`; reads memory only."""
        problem = self.problem()
        degraded = self.readiness == "ok" and problem is not None
        return HealthReply(
            status="degraded" if degraded else self.readiness,
            problem=problem,
            runtime_scope_key=self.runtime_scope_key,
            runtime_key=self.runtime_key,
            uptime_s=round(time.monotonic() - self.started_s, 3),
        )
