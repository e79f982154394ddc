"""A working copy of one room's loaded timeline, used during one reduction.

The invariant: the loaded part is contiguous, so every durable event of the room whose seq lies
in `first_seq..last_seq` has been taken in, and closed blocks stand in the order of their seq.
Blocks are found by seq (bisection) or, for closed turns, by an index that is built only when it
is asked for; a delta asks for neither. The other half is `builder`, which decides what goes in.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Final

from groupx_tui.state.model import Block, BlockId, TimelineView, TurnBlock

MAX_BLOCKS: Final = 2_000
"""Loaded blocks of the shown room; above it the far end is dropped."""
KEEP_BLOCKS: Final = 1_600
"""What stays then: dropping in large steps keeps it rare."""


def order_of(block: Block) -> int:
    """Seq by which a block stands in the timeline; 0 for one that has none yet."""
    return block.order_seq or 0


class Window:
    """Mutable; belongs to one `ViewBuilder`."""

    def __init__(self, timeline: TimelineView) -> None:
        self.base = timeline
        self.room_id = timeline.room_id
        self.first_seq = timeline.first_seq
        self.last_seq = timeline.last_seq
        self.has_more_before = timeline.has_more_before
        self.has_more_after = timeline.has_more_after
        self.reader_side = timeline.reader_side
        self.new_after = timeline.new_after
        self.total_messages = timeline.total_messages
        self.total_events = timeline.total_events
        self.counted_seq = timeline.counted_seq
        self.cut_turns = {turn.turn_id: turn for turn in timeline.cut_turns}
        self.changed: set[BlockId] = set()
        blocks = timeline.blocks
        end = len(blocks)
        while end and _is_open_turn(blocks[end - 1]):
            end -= 1
        start = end
        while start and order_of(blocks[start - 1]) == 0:
            start -= 1
        self.pending = list(timeline.pending)
        self._closed_count = start
        self._closed: list[Block] | None = None
        self._turn_seqs: dict[str, int] | None = None
        self._is_cleared = False

    @property
    def closed(self) -> list[Block]:
        """Blocks with a seq, in order; a list that may be changed through `put` only."""
        if self._closed is None:
            self._closed = list(self.base.blocks[: self._closed_count])
        return self._closed

    def covers(self, seq: int) -> bool:
        """Whether an event of this room at `seq` belongs into the loaded part."""
        is_after_start = seq >= self.first_seq or not self.has_more_before
        return is_after_start and (seq <= self.last_seq or not self.has_more_after)

    def count(self, seq: int, *, is_message: bool) -> None:
        """Count an event of the room that the stream brought, loaded or not, once."""
        if seq > self.counted_seq:
            self.counted_seq = seq
            self.total_events += 1
            self.total_messages += is_message

    def note_seq(self, seq: int) -> None:
        """Say that the event at `seq` was taken in."""
        self.first_seq = min(self.first_seq or seq, seq)
        self.last_seq = max(self.last_seq, seq)

    def at(self, seq: int) -> Block | None:
        """Return the closed block at `seq`."""
        index = bisect_left(self.closed, seq, key=order_of)
        if index < len(self.closed) and self.closed[index].order_seq == seq:
            return self.closed[index]
        return None

    def closed_turn(self, turn_id: str) -> TurnBlock | None:
        """Return a turn that ended in the loaded part."""
        if self._turn_seqs is None:
            turns = (block for block in self.closed if isinstance(block, TurnBlock))
            self._turn_seqs = {turn.turn_id: order_of(turn) for turn in turns}
        seq = self._turn_seqs.get(turn_id)
        block = None if seq is None else self.at(seq)
        return block if isinstance(block, TurnBlock) else None

    def put(self, block: Block) -> None:
        """Insert a closed block at its seq, or replace the older state of the same block. Another
        block at that seq stays: a seq belongs to one event."""
        seq, closed = order_of(block), self.closed
        index = bisect_left(closed, seq, key=order_of)
        if index == len(closed) or closed[index].order_seq != seq:
            closed.insert(index, block)
        elif closed[index].block_id == block.block_id and closed[index] != block:
            closed[index] = block
        else:
            return
        self.changed.add(block.block_id)
        if isinstance(block, TurnBlock) and self._turn_seqs is not None:
            self._turn_seqs[block.turn_id] = seq

    def hold(self, turn: TurnBlock) -> None:
        """Keep what is known of a turn that ends after the loaded part, if it began before its
        end: the next page tells only the rest."""
        if turn.queued_seq <= self.last_seq:
            self.cut_turns[turn.turn_id] = replace(turn, order_seq=None)

    def clear(self) -> None:
        """Forget all that is loaded; own messages that are being sent stay."""
        self._closed, self._turn_seqs, self._closed_count = [], None, 0
        self._is_cleared = True
        self.cut_turns = {}
        self.first_seq = self.last_seq = self.new_after = 0
        self.has_more_before = self.has_more_after = False

    def trim(self) -> None:
        """Drop what is too much, at the end where the reader is not."""
        count = self._closed_count if self._closed is None else len(self._closed)
        if count <= MAX_BLOCKS:
            return
        if self.reader_side == "end":
            del self.closed[:-KEEP_BLOCKS]
            self.first_seq = order_of(self.closed[0])
            self.has_more_before = True
        else:
            dropped = self.closed[KEEP_BLOCKS:]
            del self.closed[KEEP_BLOCKS:]
            self.last_seq = order_of(self.closed[-1])
            self.has_more_after = True
            for block in dropped:
                if isinstance(block, TurnBlock):
                    self.hold(block)
        self._turn_seqs = None

    def freeze(self, open_turns: tuple[TurnBlock, ...], touched: set[BlockId]) -> TimelineView:
        """Return the timeline; `open_turns` are those of this room, `touched` the ids of those
        that differ from before."""
        if self._closed is None:
            closed = self.base.blocks[: self._closed_count]
        else:
            closed = tuple(self._closed)
        pending = tuple(self.pending)
        tail: tuple[Block, ...] = () if self.has_more_after else (*pending, *open_turns)
        if self.base.has_more_after or self._is_cleared:
            touched = {block.block_id for block in tail}
        if tail:
            self.changed |= touched
        return TimelineView(
            room_id=self.room_id,
            blocks=closed + tail,
            first_seq=self.first_seq,
            last_seq=self.last_seq,
            has_more_before=self.has_more_before,
            has_more_after=self.has_more_after,
            total_messages=self.total_messages,
            total_events=self.total_events,
            counted_seq=self.counted_seq,
            changed=frozenset(self.changed),
            new_after=self.new_after,
            reader_side=self.reader_side,
            cut_turns=tuple(self.cut_turns.values()),
            pending=pending,
        )


def _is_open_turn(block: Block) -> bool:
    return isinstance(block, TurnBlock) and block.order_seq is None
