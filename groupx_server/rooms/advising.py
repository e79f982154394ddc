"""What a person says to an agent at work: into its running turn where its program takes that, else
as its next turn.

Counterpart: `watching.steer`, the same for observers. It is on disk before it leaves; whoever asked
is told what became of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from groupx_server.context.advice import Advice, advice_text
from groupx_server.ledger.accept import Source
from groupx_server.ledger.advice import (
    AdvicePlaced,
    TurnAdvice,
    advice_state,
    place_advice,
    settle_advice,
)
from groupx_server.ledger.steers import Outcome
from groupx_server.ledger.turns import read_turn
from groupx_server.rooms.agents import Agents
from groupx_server.rooms.nudging import WITHIN_S, Nudger, Offer
from groupx_server.rooms.sendable import require_length, require_text
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.wire.replies import AdviceReply


@dataclass(frozen=True, slots=True)
class Advising:
    """The use case."""

    runtime: Runtime
    agents: Agents

    async def advise(
        self, turn_id: str, client_command_id: str, content: str, source: Source
    ) -> AdviceReply:
        """Say it, and wait until what became of it is known.

        Raises: RefusedError (UNKNOWN_TURN, MESSAGE_TOO_LARGE, CLIENT_COMMAND_CONFLICT,
        ROOM_ARCHIVED, QUEUE_CAPACITY_REACHED, SHUTTING_DOWN).
        """
        runtime = self.runtime
        require_text(content)
        require_length(content, runtime.limits)
        turn = await runtime.ledger.read(partial(read_turn, turn_id=turn_id))
        advice = TurnAdvice(
            turn_id,
            client_command_id,
            content,
            source,
            is_live=self.agents.can_steer(turn.target_actor_id, turn_id),
        )
        now = runtime.clock.now()
        step = partial(place_advice, advice=advice, limits=runtime.limits, now=now)
        placed = await runtime.ledger.write(step)
        if placed.is_new:
            await self._give(placed, advice)
        delivery, next_turn_id = await self._settled(placed.message_event_id)
        return AdviceReply.model_validate(
            {
                "message_event_id": placed.message_event_id,
                "delivery": delivery,
                "next_turn_id": next_turn_id,
            }
        )

    async def _give(self, placed: AdvicePlaced, advice: TurnAdvice) -> None:
        subject = placed.subject
        if not placed.is_live:
            self.agents.queued([subject.target_actor_id])
            return
        person = advice.source.actor_id
        said = Advice(placed.message_event_id, person, "", "", advice.content)
        offer = Offer(
            subject.target_actor_id,
            subject.turn_id,
            placed.message_event_id,
            advice_text(said, by_person=True),
            settle_advice,
        )
        await Nudger(self.runtime, self.agents).give(offer)

    async def _settled(self, message_id: str) -> tuple[Outcome, str | None]:
        """What became of it; a repeated call may come while it is on its way."""
        ledger, find = self.runtime.ledger, partial(advice_state, message_event_id=message_id)
        try:
            async with asyncio.timeout(WITHIN_S):
                while True:
                    seen = ledger.last_seq
                    state, next_turn_id = await ledger.read(find)
                    if state != "sending":
                        return state, next_turn_id
                    await ledger.changed(seen)
        except TimeoutError:
            return "unknown", None
