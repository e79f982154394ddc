"""Who is in a room and what each does, as agents are told: cards of the board and open turns.

What an agent does in another room stays there: that it works is told, on what is not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from groupx_server.ledger.callers import Caller, require_turn
from groupx_server.ledger.messages import SpokenMessage, read_message
from groupx_server.ledger.rooms import read_room
from groupx_server.ledger.turns import open_turns
from groupx_server.rooms.toldtext import excerpt, provenance
from groupx_server.rooms.toolresults import RosterAgent, RosterResult
from groupx_shared.ids import USER_WEB
from groupx_shared.text import safe_line
from groupx_shared.wire.replies import AgentInfo, TurnInfo

MAX_OPEN: Final = 200
DETAIL_CHARS: Final = 200


def read_roster(
    connection: sqlite3.Connection, caller: Caller, cards: Sequence[AgentInfo]
) -> RosterResult:
    """Raises: RefusedError (MCP_BINDING_MISMATCH)."""
    require_turn(connection, caller)
    room = read_room(connection, caller.room_id)
    running = {
        turn.turn_id: turn
        for turn in open_turns(connection, caller.room_id, MAX_OPEN)
        if turn.status != "queued"
    }
    agents = []
    for card in cards:
        turn = running.get(card.active_turn_id or "")
        message = None if turn is None else read_message(connection, turn.source_event_id)
        agents.append(_agent(card, caller, turn, message))
    return RosterResult(
        room_id=room.room_id, room_title=room.title, agents=tuple(agents), people=(USER_WEB,)
    )


def _agent(
    card: AgentInfo, caller: Caller, turn: TurnInfo | None, message: SpokenMessage | None
) -> RosterAgent:
    return RosterAgent(
        actor_id=card.actor_id,
        name=card.display_name,
        is_you=card.actor_id == caller.actor_id,
        status=card.status,
        detail=None if card.detail is None else safe_line(card.detail, DETAIL_CHARS),
        queued_turns=card.queued_turns,
        active_turn_id=None if turn is None else turn.turn_id,
        active_since=None if turn is None else turn.started_at,
        doing=None if message is None else excerpt(message.content),
        provenance=None if message is None else _by(message),
    )


def _by(message: SpokenMessage) -> str:
    kind = message.actor_id.partition(":")[0]
    return provenance(message.event_id, message.actor_id, kind, message.actor_name)
