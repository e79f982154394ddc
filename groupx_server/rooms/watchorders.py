"""Ordering a watch: from the names in a message to the agents that shall watch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groupx_server.ledger.queueing import Target
from groupx_server.ledger.turns import QueuedHead
from groupx_server.rooms.roster import Roster
from groupx_shared.wire.replies import MessageAccepted, QueuedTurn


def watchers(roster: Roster, names: Sequence[str]) -> list[Target]:
    """The agents of these names, each once. Raises: RefusedError (UNKNOWN_TARGET,
    AGENT_DISABLED)."""
    entries = {entry.actor_id: entry for entry in map(roster.resolve, names)}
    return [Target(entry.actor_id, entry.driver) for entry in entries.values()]


def observers_of(accepted: MessageAccepted) -> tuple[QueuedTurn, ...]:
    """The turns of a message's observers."""
    watched = accepted.supervision
    return () if watched is None else watched.observers


def targets_of(accepted: MessageAccepted) -> Iterator[str]:
    """Whose lanes an accepted message wakes: its targets' and its observers'."""
    for turn in accepted.turns:
        yield turn.target
    for turn in observers_of(accepted):
        yield turn.target


def heads_of(accepted: MessageAccepted) -> dict[str, QueuedHead]:
    """The turns of an accepted message that found their lanes empty, by agent."""
    return {
        turn.target: QueuedHead(
            turn.turn_id, accepted.room_id, accepted.message_event_id, accepted.correlation_id
        )
        for turn in accepted.turns
        if turn.queue_position == 0 and turn.active_turn_id is None
    }
