"""What the server says of itself, and the one thing a client may do to it: ask it to stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from groupx_shared.wire.replies import HealthReply

Readiness = Literal["starting", "ok", "closing"]


def _always_healthy() -> bool:
    return True


@dataclass(slots=True)
class ServerState:
    """Shared by the composition root, which changes it, and the HTTP layer, which reads it."""

    port: int
    """The port that requests must name in Host and Origin."""
    runtime_scope_key: str
    runtime_key: str
    readiness: Readiness = "starting"
    is_healthy: Callable[[], bool] = _always_healthy
    """Must cost nothing: `GET /api/health` calls it."""
    streams_end: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: every open stream ends at once."""
    started_s: float = field(default_factory=time.monotonic)

    def close(self) -> None:
        """Refuse all but health from now on and end the streams."""
        self.readiness = "closing"
        self.streams_end.set()

    def health(self) -> HealthReply:
        """The reply of `GET /api/health`; reads memory only."""
        degraded = self.readiness == "ok" and not self.is_healthy()
        return HealthReply(
            status="degraded" if degraded else self.readiness,
            runtime_scope_key=self.runtime_scope_key,
            runtime_key=self.runtime_key,
            uptime_s=round(time.monotonic() - self.started_s, 3),
        )
