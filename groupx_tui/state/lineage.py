"""Who asked whom because of one message, as a tree. Pure.

A message has below it the turns that it woke, a turn the messages by which its agent called
others. Invariant: each block of the root stands in the tree once, whatever of it is not loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from groupx_tui.state.model import Block, MessageBlock, NoticeBlock, TurnBlock


class Branch(NamedTuple):
    """One line of the tree."""

    depth: int
    block: MessageBlock | TurnBlock


def blocks_of_root(blocks: Iterable[Block], root_id: str) -> list[Block]:
    """Return the blocks that one message led to, itself included, in their order."""
    return [block for block in blocks if root_id and block.root_id == root_id]


def tree_of(blocks: Iterable[Block], root_id: str) -> list[Branch]:
    """Return the messages and turns of a root, each below what led to it."""
    own = blocks_of_root(blocks, root_id)
    return list(_Tree([b for b in own if not isinstance(b, NoticeBlock)]).walk())


class _Tree:
    def __init__(self, blocks: Sequence[MessageBlock | TurnBlock]) -> None:
        self._blocks = blocks
        self._seen: set[str] = set()
        self._turns: dict[str, list[TurnBlock]] = {}
        for block in blocks:
            if isinstance(block, TurnBlock) and block.source_event_id:
                self._turns.setdefault(block.source_event_id, []).append(block)
        self._calls: dict[str, list[MessageBlock]] = {}
        for block in blocks:
            if isinstance(block, MessageBlock) and (caller := self._caller(block)):
                self._calls.setdefault(caller, []).append(block)

    def _caller(self, message: MessageBlock) -> str:
        """The turn whose agent wrote a message, told by itself or by the turns that it woke."""
        if message.turn_id:
            return message.turn_id
        turns = self._turns.get(message.event_id, [])
        return next((turn.parent_turn_id for turn in turns if turn.parent_turn_id), "")

    def walk(self) -> Iterator[Branch]:
        """Yield the tree: first from the blocks that nothing loaded led to, then what is left."""
        known = {block.turn_id for block in self._blocks if isinstance(block, TurnBlock)}
        messages = {block.event_id for block in self._blocks if isinstance(block, MessageBlock)}
        for block in self._blocks:
            if isinstance(block, MessageBlock):
                is_top = self._caller(block) not in known
            else:
                is_top = block.source_event_id not in messages
            if is_top:
                yield from self._below(block, 0)
        for block in self._blocks:
            yield from self._below(block, 0)

    def _below(self, block: MessageBlock | TurnBlock, depth: int) -> Iterator[Branch]:
        if block.block_id in self._seen:
            return
        self._seen.add(block.block_id)
        yield Branch(depth, block)
        below: Sequence[MessageBlock | TurnBlock]
        if isinstance(block, MessageBlock):
            below = self._turns.get(block.event_id, [])
        else:
            below = self._calls.get(block.turn_id, [])
        for each in below:
            yield from self._below(each, depth + 1)
