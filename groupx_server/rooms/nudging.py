"""Giving advice to a running turn, and writing down what became of it.

It is on disk as `sending` before it leaves. The task here outlives the request that asked for it:
what became of the advice is written also when whoever gave it has gone meanwhile.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from groupx_server.ledger.steers import Outcome
from groupx_server.logs import get_logger
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.patience import write_patiently
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError
from groupx_shared.wire.replies import QueuedTurn

WITHIN_S: Final = 30.0
"""For the agent to say whether it took the message; drivers give a request 10 s."""

log = get_logger(__name__)

Settle = Callable[[sqlite3.Connection, str, Outcome, str], QueuedTurn | None]
"""Writes what became of a message, at a time; returns the turn that it became."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What is to be said to the agent of a running turn, and how to write down the outcome."""

    actor_id: str
    turn_id: str
    message_event_id: str
    text: str
    settle: Settle


@dataclass(frozen=True, slots=True)
class Nudger:
    """Hands advice to the agents."""

    runtime: Runtime
    agents: Agents

    async def give(self, offer: Offer) -> None:
        """Give it, and wait until what became of it is on disk.

        Raises: RefusedError (SHUTTING_DOWN).
        """
        done = asyncio.Event()
        self.agents.spawn(self._give(offer, done))
        await done.wait()

    async def _give(self, offer: Offer, done: asyncio.Event) -> None:
        try:
            outcome, now = await self._offered(offer), self.runtime.clock.now()

            def step(connection: sqlite3.Connection) -> QueuedTurn | None:
                return offer.settle(connection, offer.message_event_id, outcome, now)

            queued = await write_patiently(self.runtime.ledger, step)
            if queued is not None:
                self.agents.queued([queued.target])
        except Exception:  # task boundary: the next start settles it as unknown
            log.exception("nudge.unsettled", message=offer.message_event_id)
        finally:
            done.set()

    async def _offered(self, offer: Offer) -> Outcome:
        try:
            async with asyncio.timeout(WITHIN_S):
                is_taken = await self.agents.steer(offer.actor_id, offer.turn_id, offer.text)
        except (AgentError, TimeoutError) as error:
            log.warning("nudge.unknown", turn=offer.turn_id, reason=str(error))
            return "unknown"
        return "taken" if is_taken else "queued"
