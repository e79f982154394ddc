"""What agents said to each other because of one message, folded to one line where it began.

Pure: blocks in, what is drawn out. Invariants: folding hides only what agents said to agents (calls
and the turns that they woke), never a person's message, advice, an agent's answer to a person or a
line about the room; the order of what stays does not change. A line that says the same is the same
object, so what is streamed inside a folded exchange draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Final

from groupx_tui.state.model import Block, BlockId, MessageBlock, Shown, ThreadBlock, TurnBlock
from groupx_tui.widgets.timeline.folds import Folds

THREAD: Final = "thread"
"""Part key of a thread's line, and the kind of its fold."""


ADVICE: Final = "supervision.advice"
"""Kind of a message by which an observer advises: people see it, whatever is folded."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a block stands in an exchange."""

    depth: int
    """1: called by the agent that a person addressed; 2: by one of those …"""
    caller: str = ""
    """Who called, of a turn; empty when that is not loaded."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The blocks as they are drawn."""

    blocks: tuple[Shown, ...] = ()
    lineage: dict[BlockId, Lineage] = field(default_factory=dict)
    """Of the blocks of open exchanges."""


def thread_id(root_id: str) -> BlockId:
    """Return the block id of the line of an exchange."""
    return f"{THREAD}:{root_id}"


def thread_of(block: Block) -> str:
    """Return the root of the exchange that a block is folded into; empty for all others."""
    match block:
        case MessageBlock():
            is_call = block.author.kind == "agent" and bool(block.to) and block.kind != ADVICE
            return block.root_id if is_call else ""
        case TurnBlock():
            return block.root_id if block.hop_count else ""
        case _:
            return ""


class Threads:
    """Arranges the blocks of one room after another; keeps what it made.

    Blocks that are the same objects as before are not looked at again: a streamed piece costs one
    pass over pointers and the exchange that it belongs to.
    """

    def __init__(self) -> None:
        self._blocks: tuple[Block, ...] = ()
        self._folds: tuple[Folds | None, int] = (None, -1)
        self._roots: list[str] = []
        self._members: dict[str, list[int]] = {}
        self._made: dict[str, ThreadBlock] = {}
        self._drawn: list[Shown] = []
        self._places: list[int] = []
        """Where each block is drawn; -1: it is folded."""
        self._heads: dict[str, int] = {}
        """Where the line of each exchange is drawn."""
        self._lineage: dict[BlockId, Lineage] = {}

    def arrange(self, blocks: Sequence[Block], folds: Folds) -> Arrangement:
        """Return what is drawn of `blocks`, in their order."""
        new, old = tuple(blocks), self._blocks
        self._blocks = new
        is_known = self._folds == (folds, folds.version) and len(new) == len(old)
        self._folds = (folds, folds.version)
        changed = _changed(old, new) if is_known else None
        if changed is None or not self._renew(old, new, changed):
            self._rebuild(new, folds)
        if not self._members:
            return Arrangement(new)
        return Arrangement(tuple(self._drawn), self._lineage)

    def _renew(
        self, old: tuple[Block, ...], new: tuple[Block, ...], changed: Sequence[int]
    ) -> bool:
        """Take over the blocks that changed; False when one is another block, or now belongs to
        another exchange."""
        for index in changed:
            is_same = old[index].block_id == new[index].block_id
            if not is_same or thread_of(new[index]) != self._roots[index]:
                return False
        for index in changed:
            if self._places[index] >= 0:
                self._drawn[self._places[index]] = new[index]
        for root in {self._roots[index] for index in changed} - {""}:
            self._drawn[self._heads[root]] = self._line(root, is_open=self._made[root].is_open)
        return True

    def _rebuild(self, blocks: tuple[Block, ...], folds: Folds) -> None:
        self._roots = [thread_of(block) for block in blocks]
        self._members = {}
        for index, root in enumerate(self._roots):
            if root:
                self._members.setdefault(root, []).append(index)
        self._made = {root: line for root, line in self._made.items() if root in self._members}
        self._drawn, self._places, self._heads = [], [], {}
        self._lineage = {}
        for index, root in enumerate(self._roots):
            if root and root not in self._heads:
                self._heads[root] = len(self._drawn)
                is_open = folds.is_open(thread_id(root), THREAD, THREAD)
                self._drawn.append(self._line(root, is_open=is_open))
            is_drawn = not root or self._made[root].is_open
            self._places.append(len(self._drawn) if is_drawn else -1)
            if is_drawn:
                self._drawn.append(blocks[index])

    def _line(self, root: str, *, is_open: bool) -> ThreadBlock:
        parts = [self._blocks[index] for index in self._members[root]]
        line = summary(root, parts, is_open=is_open)
        line = old if (old := self._made.get(root)) == line and old is not None else line
        self._made[root] = line
        if is_open:
            self._lineage = self._lineage | _lineage(parts)
        return line


def _changed(old: tuple[Block, ...], new: tuple[Block, ...]) -> list[int]:
    """Where the two, of one length, hold different objects."""
    same = bytes(map(is_, old, new))
    found: list[int] = []
    index = same.find(0)
    while index >= 0:
        found.append(index)
        index = same.find(0, index + 1)
    return found


def summary(root: str, parts: Sequence[Block], *, is_open: bool) -> ThreadBlock:
    """Return the line for the blocks of one exchange, in their order."""
    calls = [block for block in parts if isinstance(block, MessageBlock)]
    turns = [block for block in parts if isinstance(block, TurnBlock)]
    ended = [turn for turn in turns if not turn.is_open]
    open_turns = [turn for turn in turns if turn.is_open]
    is_hidden = not is_open
    answered = sum(turn.phase == "completed" for turn in ended)
    return ThreadBlock(
        block_id=thread_id(root),
        order_seq=parts[0].order_seq,
        root_id=root,
        at=calls[0].at if calls else turns[0].queued_at,
        callers=_names(call.author.name for call in calls),
        called=_names(turn.author.name for turn in turns) or _names(n for c in calls for n in c.to),
        turns=len(turns),
        answered=answered,
        failed=len(ended) - answered,
        working=_names(turn.author.name for turn in open_turns if turn.phase != "queued"),
        waiting=sum(turn.phase == "queued" for turn in open_turns),
        messages=(len(calls) + sum(turn.response_event_id is not None for turn in turns))
        * is_hidden,
        until=None if open_turns else max((turn.ended_at or "" for turn in ended), default=None),
        is_open=is_open,
    )


def _names(names: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _lineage(parts: Sequence[Block]) -> dict[BlockId, Lineage]:
    authors = {
        block.event_id: block.author.name for block in parts if isinstance(block, MessageBlock)
    }
    hops = {turn.source_event_id: turn.hop_count for turn in parts if isinstance(turn, TurnBlock)}
    found: dict[BlockId, Lineage] = {}
    for block in parts:
        if isinstance(block, TurnBlock):
            caller = authors.get(block.source_event_id or "", "")
            found[block.block_id] = Lineage(max(1, block.hop_count), caller)
        elif isinstance(block, MessageBlock):
            found[block.block_id] = Lineage(max(1, hops.get(block.event_id, 1)))
    return found
