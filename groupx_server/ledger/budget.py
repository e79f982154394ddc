"""The budget of a root where a turn would be handed to its agent: spent means it is not."""

from __future__ import annotations

import sqlite3

from groupx_server.domain.limits import Limits, check_budget, raised
from groupx_server.domain.turn import TurnStatus
from groupx_server.ledger.stops import Stop, granted_to, record_stop
from groupx_server.ledger.terminal import Ended, TurnEnd, end_turn
from groupx_server.ledger.turns import QueuedHead
from groupx_server.ledger.usage import spent_tokens
from groupx_shared.errors import RefusedError


def end_over_budget(
    connection: sqlite3.Connection, head: QueuedHead, actor_id: str, limits: Limits, now: str
) -> Ended | None:
    """End the waiting turn as failed (BUDGET_EXCEEDED), visibly for all, when its root has spent
    its budget; None when it may be sent."""
    allowed = raised(limits, granted_to(connection, head.correlation_id))
    try:
        check_budget(allowed, spent_tokens(connection, head.correlation_id))
    except RefusedError as error:
        end = TurnEnd(
            head.turn_id,
            TurnStatus.FAILED,
            error_code=error.code,
            error_message=f"{error.message} The message was not sent to the agent.",
        )
        stop = Stop(
            room_id=head.room_id,
            correlation_id=head.correlation_id,
            caller_actor_id=actor_id,
            caller_turn_id=head.turn_id,
            error=error,
            targets=(actor_id,),
        )
        ended = end_turn(connection, end, limits, now)
        if ended.is_new:
            record_stop(connection, stop, now)
        return ended
    return None
