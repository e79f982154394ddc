"""Giving advice to a running turn, and writing down what became of it.

It is on disk as `sending` before it leaves. The task here outlives the request that asked for it:
what became of the advice is written also when the observer has gone meanwhile.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final

from groupx_server.context.advice import Advice, advice_text
from groupx_server.ledger.steers import Outcome, settle_nudge
from groupx_server.logs import get_logger
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.patience import write_patiently
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError
from groupx_shared.wire.bodies import SteeredBody

WITHIN_S: Final = 30.0
"""For the agent to say whether it took the message; drivers give a request 10 s."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Nudger:
    """Hands advice to the agents."""

    runtime: Runtime
    agents: Agents

    async def give(self, steered: SteeredBody, advice: Advice) -> None:
        """Give it, and wait until what became of it is on disk.

        Raises: RefusedError (SHUTTING_DOWN).
        """
        done = asyncio.Event()
        self.agents.spawn(self._give(steered, advice, done))
        await done.wait()

    async def _give(self, steered: SteeredBody, advice: Advice, done: asyncio.Event) -> None:
        try:
            outcome = await self._offered(steered, advice)
            step = partial(
                settle_nudge,
                message_event_id=advice.event_id,
                outcome=outcome,
                now=self.runtime.clock.now(),
            )
            queued = await write_patiently(self.runtime.ledger, step)
            if queued is not None:
                self.agents.queued([queued.target])
        except Exception:  # task boundary: the next start settles it as unknown
            log.exception("nudge.unsettled", message=advice.event_id)
        finally:
            done.set()

    async def _offered(self, steered: SteeredBody, advice: Advice) -> Outcome:
        actor_id, turn_id = steered.subject_actor_id or "", steered.subject_turn_id
        try:
            async with asyncio.timeout(WITHIN_S):
                is_taken = await self.agents.steer(actor_id, turn_id, advice_text(advice))
        except (AgentError, TimeoutError) as error:
            log.warning("nudge.unknown", turn=turn_id, reason=str(error))
            return "unknown"
        return "taken" if is_taken else "queued"
