"""Asking an agent what became of the turns that an earlier server left open.

Before the agent's lane begins anything new. Bounded: an agent that does not tell in time ends the
turn as `interrupted`, as for every other agent. Nothing is ever sent again here.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from groupx_server.agents.base import Recalled, SessionRequest
from groupx_server.agents.host import AgentHost
from groupx_server.context.packet import is_packet_for
from groupx_server.ledger.recalled import LeftOpen, left_open, settle_recalled
from groupx_server.logs import get_logger
from groupx_server.rooms.patience import read_patiently, write_patiently
from groupx_server.rooms.roster import RosterEntry
from groupx_server.rooms.turnrunner import Runtime
from groupx_shared.errors import AgentError, ConfigError

ASK_WITHIN_S: Final = 60.0
"""For the agent to start and look one turn up."""

log = get_logger(__name__)


async def reconcile(runtime: Runtime, entry: RosterEntry, host: AgentHost) -> None:
    """Settle every turn of this agent that an earlier server left open."""
    query = partial(left_open, actor_id=entry.actor_id)
    for turn in await read_patiently(runtime.ledger, query):
        recalled = await _ask(entry, host, turn)
        step = partial(
            settle_recalled,
            turn=turn,
            was_found=recalled is not None,
            end=None if recalled is None else recalled.end,
            limits=runtime.limits,
            now=runtime.clock.now(),
        )
        await write_patiently(runtime.ledger, step)
        log.info(
            "turn.reconciled",
            turn=turn.turn_id,
            was_found=recalled is not None,
            ended=recalled is not None and recalled.end is not None,
        )


async def _ask(entry: RosterEntry, host: AgentHost, turn: LeftOpen) -> Recalled | None:
    request = SessionRequest(
        cwd=entry.spec.cwd,
        resume_native_id=turn.native_session_id,
        meta={"groupx": {"roomId": turn.room_id}},
    )
    is_ours = partial(is_packet_for, event_id=turn.source_event_id)
    try:
        async with asyncio.timeout(ASK_WITHIN_S):
            return await host.recall(request, turn.native_turn_id, is_ours)
    except (AgentError, ConfigError, TimeoutError) as error:
        log.warning("turn.not_recalled", turn=turn.turn_id, error=str(error))
        return None
