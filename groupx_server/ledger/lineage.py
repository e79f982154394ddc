"""Who called whom: the chain of turns above a call, checked link by link.

Every turn that an agent caused names the turn that caused it, in the same room and the same root,
one hop below. A call is accepted only when all of that is true up to the turn that a person
caused; what the chain means is `domain/causality`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from groupx_shared.errors import ErrorCode, RefusedError


@dataclass(frozen=True, slots=True)
class Link:
    """What a call says of the turn it is made in."""

    parent_turn_id: str
    caller_actor_id: str
    room_id: str
    correlation_id: str
    hop_count: int
    """Of the call itself: one more than its parent's."""


def read_chain(connection: sqlite3.Connection, link: Link) -> list[str]:
    """The actors from the caller up to the one that a person woke.

    Raises: RefusedError (MCP_BINDING_MISMATCH: the turn is not the caller's; STORE_CONFLICT: the
    chain is broken, a ring, or of another room or root).
    """
    actors: list[str] = []
    turn_id: str | None = link.parent_turn_id
    hop = link.hop_count
    while turn_id is not None:
        row = connection.execute(
            "SELECT target_actor_id, room_id, root_correlation_id, hop_count, parent_turn_id"
            " FROM turns WHERE turn_id = ?",
            (turn_id,),
        ).fetchone()
        hop -= 1
        # The hops count down to 0, so a ring cannot be walked for ever.
        if row is None or row[1:4] != (link.room_id, link.correlation_id, hop):
            raise _broken(link)
        actors.append(row[0])
        turn_id = row[4]
    if hop != 0:
        raise _broken(link)
    if actors[0] != link.caller_actor_id:
        raise RefusedError(
            f"The turn {link.parent_turn_id} is not {link.caller_actor_id}'s.",
            code=ErrorCode.MCP_BINDING_MISMATCH,
        )
    return actors


def _broken(link: Link) -> RefusedError:
    return RefusedError(
        f"The chain of turns above {link.parent_turn_id} is not whole: each must be in the same "
        "room and root, one hop above the next. Nothing was sent.",
        code=ErrorCode.STORE_CONFLICT,
    )
