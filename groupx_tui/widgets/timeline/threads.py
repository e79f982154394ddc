"""What agents said to each other because of one message, folded to one line where it began.

Pure: blocks in, what is drawn out. Invariants: folding hides only what agents said to agents (calls
and the turns that they woke), never a person's message, advice, an agent's answer to a person or a
line about the room; the order of what stays does not change. A line that says the same is the same
object, so what is streamed inside a folded exchange draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
    """Arranges the blocks of one room after another; keeps what it made."""

    def __init__(self) -> None:
        self._made: dict[str, ThreadBlock] = {}

    def arrange(self, blocks: Sequence[Block], folds: Folds) -> Arrangement:
        """Return what is drawn of `blocks`, in their order."""
        roots = [thread_of(block) for block in blocks]
        members: dict[str, list[Block]] = {}
        for root, block in zip(roots, blocks, strict=True):
            if root:
                members.setdefault(root, []).append(block)
        if not members:
            return Arrangement(tuple(blocks))
        made = {root: self._line(root, parts, folds) for root, parts in members.items()}
        self._made = made
        lineage: dict[BlockId, Lineage] = {}
        for root, line in made.items():
            if line.is_open:
                lineage.update(_lineage(members[root]))
        return Arrangement(tuple(_drawn(blocks, roots, made)), lineage)

    def _line(self, root: str, parts: Sequence[Block], folds: Folds) -> ThreadBlock:
        line = summary(root, parts, is_open=folds.is_open(thread_id(root), THREAD, THREAD))
        old = self._made.get(root)
        return old if old == line and old is not None else line


def _drawn(
    blocks: Sequence[Block], roots: Sequence[str], made: dict[str, ThreadBlock]
) -> Iterator[Shown]:
    begun: set[str] = set()
    for root, block in zip(roots, blocks, strict=True):
        if not root:
            yield block
            continue
        if root not in begun:
            begun.add(root)
            yield made[root]
        if made[root].is_open:
            yield block


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
