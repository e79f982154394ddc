"""The turns that have not ended, of all rooms, during one reduction.

The invariant: they stand in the order they were queued, each once, and a queued one knows how many
turns of its agent come before it. There are few of them (agents times queue), so plain scans do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groupx_tui.state.model import BlockId, TurnBlock


class OpenTurns:
    """Mutable; belongs to one `ViewBuilder`."""

    def __init__(self, turns: tuple[TurnBlock, ...]) -> None:
        self._base = turns
        self._turns = {turn.turn_id: turn for turn in turns}
        self._touched: set[str] = set()
        self.membership_changed = False

    def __iter__(self) -> Iterator[TurnBlock]:
        return iter(self._turns.values())

    def get(self, turn_id: str) -> TurnBlock | None:
        """Return an open turn."""
        return self._turns.get(turn_id)

    def put(self, turn: TurnBlock) -> None:
        """Add a turn or its newer state."""
        old = self._turns.get(turn.turn_id)
        if old == turn:
            return
        if old is None or old.queued_seq != turn.queued_seq or old.phase != turn.phase:
            self.membership_changed = True
        self._turns[turn.turn_id] = turn
        self._touched.add(turn.turn_id)

    def discard(self, turn_id: str) -> None:
        """Take a turn out that has ended."""
        if self._turns.pop(turn_id, None) is not None:
            self.membership_changed = True

    def settle(self, room_id: str) -> set[BlockId]:
        """Put the turns in order, number the queued ones, and return which blocks of `room_id`
        differ from before. Call it once, at the end."""
        if self.membership_changed:
            ordered = sorted(self._turns.values(), key=_queue_order)
            self._turns = {turn.turn_id: turn for turn in self._numbered(ordered)}
        return {
            turn.block_id
            for turn_id in self._touched
            if (turn := self._turns.get(turn_id)) is not None and turn.room_id == room_id
        }

    def _numbered(self, ordered: list[TurnBlock]) -> Iterator[TurnBlock]:
        before: dict[str, int] = {}
        busy_in = {turn.author.actor_id: turn.room_id for turn in ordered if turn.phase != "queued"}
        for turn in ordered:
            actor_id = turn.author.actor_id
            position, room_id = None, None
            if turn.phase == "queued":
                position, room_id = before.get(actor_id, 0), busy_in.get(actor_id)
            before[actor_id] = before.get(actor_id, 0) + 1
            room_id = None if room_id == turn.room_id else room_id
            if (position, room_id) != (turn.queue_position, turn.behind_room_id):
                self._touched.add(turn.turn_id)
                turn = replace(turn, queue_position=position, behind_room_id=room_id)
            yield turn

    def of_room(self, room_id: str) -> tuple[TurnBlock, ...]:
        """Return the turns of one room, in order."""
        return tuple(turn for turn in self._turns.values() if turn.room_id == room_id)

    def frozen(self) -> tuple[TurnBlock, ...]:
        """Return all turns, in order; the tuple it began with when nothing changed."""
        if not self._touched and not self.membership_changed:
            return self._base
        return tuple(self._turns.values())


def _queue_order(turn: TurnBlock) -> tuple[int, str, str]:
    """Turns known only from the server's list (no seq) were queued before all that the stream
    told."""
    return turn.queued_seq, turn.queued_at, turn.turn_id
