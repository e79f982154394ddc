"""Taking up a turn again: always as a new message with a new turn that points to the old one.

What may have arrived is never sent again by itself; a person decides, and the old turn stays as it
ended.
"""

from __future__ import annotations

import sqlite3
from typing import Final, Literal

from groupx_server.ledger.accept import AcceptMessage, Source
from groupx_server.ledger.messages import read_message
from groupx_server.ledger.queueing import Target
from groupx_server.ledger.turns import read_turn
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.wire.bodies import TERMINAL_STATUSES
from groupx_shared.wire.replies import TurnInfo

Again = Literal["retry", "continue"]
CONTINUE_TEXT: Final = "Please go on where you stopped."


def plan_again(
    connection: sqlite3.Connection,
    turn_id: str,
    client_command_id: str,
    how: Again,
    source: Source,
) -> AcceptMessage:
    """Return the message that takes the turn up again: `retry` says the same once more,
    `continue` asks to go on.

    Raises: RefusedError (UNKNOWN_TURN; STORE_CONFLICT while it is open, or when a completed turn
    would be continued).
    """
    turn = read_turn(connection, turn_id)
    _require_ended(turn, how)
    message = read_message(connection, turn.source_event_id)
    if message is None:
        raise RefusedError(
            "The message of this turn is not in the ledger; send it anew.",
            code=ErrorCode.UNKNOWN_EVENT,
        )
    is_retry = how == "retry"
    return AcceptMessage(
        client_command_id=client_command_id,
        room_id=turn.room_id,
        content=message.content if is_retry else CONTINUE_TEXT,
        targets=[Target(turn.target_actor_id, "")],
        reply_to_event_id=message.reply_to_event_id if is_retry else turn.source_event_id,
        source=source,
        command_type=f"turn.{how}",
        causation_id=turn_id,
    )


def _require_ended(turn: TurnInfo, how: Again) -> None:
    if turn.status not in TERMINAL_STATUSES:
        raise RefusedError(
            f"This turn is still {turn.status}. Wait for its end, or cancel it first with “groupx "
            f"turns cancel {turn.turn_id}”.",
            code=ErrorCode.STORE_CONFLICT,
        )
    if how == "continue" and turn.status == "completed":
        raise RefusedError(
            "This turn is complete; there is nothing to go on with. Send a new message instead.",
            code=ErrorCode.STORE_CONFLICT,
        )
