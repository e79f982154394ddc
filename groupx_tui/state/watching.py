"""Who watches whom, and what both have done: two lists of blocks taken from one timeline. Pure.

Invariants: nothing of another exchange stands in them; the order is the room's.
Counterpart: `screens.watching`, which draws the lists side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groupx_tui.state.model import Block, MessageBlock, NoticeBlock, Pair, TurnBlock

ADVICE = "supervision.advice"


@dataclass(frozen=True, slots=True)
class Watching:
    """One pair with what is loaded of it."""

    pair: Pair
    worker: tuple[Block, ...]
    """What was asked, the turns of those who work, and advice to them."""
    observer: tuple[Block, ...]
    """What they shall look out for, their turns, and the advice they gave."""

    @property
    def is_open(self) -> bool:
        """Somebody still works, or watches."""
        return any(turn.is_open for turn in turns_in((*self.worker, *self.observer)))


def pairs_in(blocks: Iterable[Block]) -> list[Pair]:
    """Return the pairs that are told of, oldest first."""
    return [b.pair for b in blocks if isinstance(b, NoticeBlock) and b.pair is not None]


def turns_in(blocks: Iterable[Block]) -> list[TurnBlock]:
    """Return the turns among `blocks`."""
    return [block for block in blocks if isinstance(block, TurnBlock)]


def watching(blocks: Sequence[Block], pair: Pair) -> Watching:
    """Return what `blocks` hold of `pair`."""
    workers = _turns_of(blocks, pair.workers, pair.worker_turns)
    observers = _turns_of(blocks, pair.observers, pair.observer_turns)
    roots = {turn.root_id for turn in turns_in(blocks) if turn.block_id in workers}
    said = {
        block.block_id
        for block in blocks
        if isinstance(block, MessageBlock)
        and block.kind == ADVICE
        and block.author.kind == "user"
        and block.root_id in roots
    }
    advice = {
        block.block_id
        for block in blocks
        if isinstance(block, MessageBlock)
        and block.kind == ADVICE
        and block.author.actor_id in pair.observers
    }
    source, watch = f"msg:{pair.source_event_id}", f"msg:{pair.watch_event_id}"
    left = {source, *workers, *advice, *said}
    right = {watch, *observers, *advice}
    return Watching(
        pair,
        tuple(block for block in blocks if block.block_id in left),
        tuple(block for block in blocks if block.block_id in right),
    )


def _turns_of(blocks: Sequence[Block], actors: Sequence[str], turn_ids: Sequence[str]) -> set[str]:
    """The turns of the pair, and those that the same agents did later for the same messages (a
    turn that was stopped goes on as another one)."""
    turns = turns_in(blocks)
    first = [turn for turn in turns if turn.turn_id in turn_ids]
    roots = {turn.root_id for turn in first if turn.root_id}
    since = min((turn.queued_seq for turn in first), default=0)
    return {turn.block_id for turn in first} | {
        turn.block_id
        for turn in turns
        if turn.author.actor_id in actors and turn.root_id in roots and turn.queued_seq >= since
    }
