"""The loaded blocks as one long list of rows, of which only those asked for are laid out.

Owns the blocks, the state of those in view, and the heights of all (guessed until seen). Places
are `Ref`s: block, part and row by index, valid until the next `show`. Counterpart: `viewport.py`,
which decides which rows are on the screen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import partial
from itertools import accumulate
from operator import is_
from typing import Final, NamedTuple

from groupx_tui.render.palette import PLAIN, Palette, Role
from groupx_tui.render.row import Layout, Row
from groupx_tui.state.model import (
    BlockId,
    MessageBlock,
    NoticeBlock,
    Shown,
    ThreadBlock,
    TimelineView,
    TurnBlock,
)
from groupx_tui.widgets.timeline import words
from groupx_tui.widgets.timeline.blockstate import Around, BlockState
from groupx_tui.widgets.timeline.estimate import estimate
from groupx_tui.widgets.timeline.folds import Folds
from groupx_tui.widgets.timeline.hints import NO_KEYS, KeyHints, goes_on, loop_hint, turn_hint
from groupx_tui.widgets.timeline.parts import Part
from groupx_tui.widgets.timeline.threads import Arrangement, Lineage

MAX_STATES: Final = 128
"""Blocks whose parts are kept: several windows' worth of the smallest."""

MAX_LAYOUTS: Final = 512
"""Parts whose rows are kept: a few megabytes."""


class Ref(NamedTuple):
    """One row: index of the block, of the part in it, of the row in that."""

    block: int
    part: int
    row: int


@dataclass(slots=True)
class Scene:
    """What drawing depends on beside the blocks."""

    width: int = 80
    palette: Palette = PLAIN
    tz: tzinfo | None = None
    folds: Folds = field(default_factory=Folds)
    now: datetime | None = None
    """Whole seconds; None draws no running clocks."""
    is_live: bool = True
    """False: the connection is lost."""
    ago: datetime | None = None
    """Whole minutes: shows how long ago things were; None: when they were."""
    unread_id: BlockId | None = None
    """The first block that came since the reader left."""
    unread_since: str = ""
    """`14:03`."""
    keys: KeyHints = NO_KEYS
    """What the hints call the keys."""
    empty_hints: tuple[str, ...] = ()
    """More lines for a room without messages."""
    start: str = "start of the room"
    """What stands above the very first block; empty: nothing."""


class Document:
    """The rows of a timeline."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.blocks: tuple[Shown, ...] = ()
        self.heights: list[int] = []
        self.has_more_before = self.has_more_after = False
        self._index: dict[BlockId, int] = {}
        self._counted: list[int] = []
        self._lineage: dict[BlockId, Lineage] = {}
        self._states: OrderedDict[BlockId, BlockState] = OrderedDict()
        self._layouts: OrderedDict[Part, None] = OrderedDict()
        self._fresh: set[int] = set()
        self._used: set[int] = set()
        self._width = scene.width

    def show(self, view: TimelineView, arrangement: Arrangement | None = None) -> None:
        """Take newer blocks; touches only those that are other objects than before.
        `arrangement`: what is drawn of them; None: all as they are."""
        arrangement = arrangement or Arrangement(view.blocks)
        self._lineage = arrangement.lineage
        old, new = self.blocks, arrangement.blocks
        same = bytes(map(is_, old, new))
        start = same.find(0)
        start = len(same) if start < 0 else start
        if len(old) == len(new) and start == len(old):
            pass
        elif len(old) == len(new) and self._same_ids(old, new, same, start):
            position = start
            while position >= 0:
                self._put(position, new[position])
                position = same.find(0, position + 1)
        else:
            self._splice(old, new, start)
        self.blocks = new
        self.has_more_before = view.has_more_before
        self.has_more_after = view.has_more_after
        self.touch()

    def _same_ids(
        self, old: Sequence[Shown], new: Sequence[Shown], same: bytes, position: int
    ) -> bool:
        while position >= 0:
            if old[position].block_id != new[position].block_id:
                return False
            position = same.find(0, position + 1)
        return True

    def _put(self, index: int, block: Shown) -> None:
        self._counted[index] = count_of(block)
        guess = estimate(block, self.scene.width)
        is_seen = block.block_id in self._states
        self.heights[index] = max(guess, self.heights[index]) if is_seen else guess

    def _splice(self, old: Sequence[Shown], new: Sequence[Shown], start: int) -> None:
        """Replace what is between the same start and the same end of both."""
        most = min(len(old), len(new)) - start
        tail = bytes(map(is_, reversed(old[start:]), reversed(new[start:])))
        end = tail.find(0)
        end = min(most, len(tail) if end < 0 else end)
        width = self.scene.width
        heights = {
            block.block_id: height
            for block, height in zip(
                old[start : len(old) - end], self.heights[start : len(old) - end], strict=True
            )
        }
        middle = new[start : len(new) - end]
        self.heights[start : len(old) - end] = [
            heights.get(block.block_id) or estimate(block, width) for block in middle
        ]
        self._counted[start : len(old) - end] = map(count_of, middle)
        if end or len(new) < len(old):
            self._index = {block.block_id: index for index, block in enumerate(new)}
        else:
            for block in old[start:]:
                self._index.pop(block.block_id, None)
            for index in range(start, len(new)):
                self._index[new[index].block_id] = index
        for block_id in heights:
            if block_id not in self._index:
                self._states.pop(block_id, None)

    def touch(self) -> None:
        """Say that the scene changed: states are looked at again when they are asked for."""
        self._fresh.clear()
        self._used.clear()
        if self.scene.width != self._width:
            self._width = self.scene.width
            self.heights = [estimate(block, self._width) for block in self.blocks]

    def locate(self, block_id: BlockId) -> int | None:
        """Return the index of a block."""
        return self._index.get(block_id)

    def state(self, index: int) -> BlockState:
        """Return the parts of a block, up to date."""
        block = self.blocks[index]
        state = self._states.get(block.block_id)
        if state is None:
            state = self._states[block.block_id] = BlockState(self.scene.tz)
            self._fresh.discard(index)
        if index not in self._fresh:
            self._fresh.add(index)
            state.update(block, self._around(index, block), self.scene.folds)
        self._used.add(index)
        self._states.move_to_end(block.block_id)
        return state

    def layout(self, part: Part) -> Layout:
        """Return the rows of a part."""
        layout = part.layout(self.scene.width, self.scene.palette)
        self._layouts[part] = None
        self._layouts.move_to_end(part)
        return layout

    def part(self, ref: Ref) -> Part:
        """Return the part that a row is in."""
        return self.state(ref.block).parts[ref.part]

    def row(self, ref: Ref) -> Row:
        """Return a row."""
        return self.layout(self.part(ref)).rows[ref.row]

    def end_frame(self) -> None:
        """Note the heights of what was laid out and drop what has not been used for long."""
        for index in self._used:
            state = self._states[self.blocks[index].block_id]
            self.heights[index] = state.height(self.scene.width)
        self._used.clear()
        while len(self._layouts) > MAX_LAYOUTS:
            part, _ = self._layouts.popitem(last=False)
            part.forget()
        while len(self._states) > MAX_STATES:
            self._states.popitem(last=False)

    # Walking.

    def first(self) -> Ref | None:
        """Return the first row."""
        return self._enter_down(0) if self.blocks else None

    def last(self) -> Ref | None:
        """Return the last row."""
        return self._enter_up(len(self.blocks) - 1) if self.blocks else None

    def down(self, ref: Ref) -> Ref | None:
        """Return the row after this one."""
        parts = self.state(ref.block).parts
        if ref.row + 1 < len(self.layout(parts[ref.part]).rows):
            return Ref(ref.block, ref.part, ref.row + 1)
        for index in range(ref.part + 1, len(parts)):
            if self.layout(parts[index]).rows:
                return Ref(ref.block, index, 0)
        return self._enter_down(ref.block + 1)

    def up(self, ref: Ref) -> Ref | None:
        """Return the row before this one."""
        if ref.row > 0:
            return Ref(ref.block, ref.part, ref.row - 1)
        parts = self.state(ref.block).parts
        for index in range(ref.part - 1, -1, -1):
            rows = self.layout(parts[index]).rows
            if rows:
                return Ref(ref.block, index, len(rows) - 1)
        return self._enter_up(ref.block - 1)

    def _enter_down(self, block: int) -> Ref | None:
        while block < len(self.blocks):
            for index, part in enumerate(self.state(block).parts):
                if self.layout(part).rows:
                    return Ref(block, index, 0)
            block += 1
        return None

    def _enter_up(self, block: int) -> Ref | None:
        while block >= 0:
            parts = self.state(block).parts
            for index in range(len(parts) - 1, -1, -1):
                rows = self.layout(parts[index]).rows
                if rows:
                    return Ref(block, index, len(rows) - 1)
            block -= 1
        return None

    # Offsets, for the scrollbar: exact where the rows were seen, guessed elsewhere.

    @property
    def total_height(self) -> int:
        """Rows of all blocks."""
        return sum(self.heights)

    def offset_of(self, ref: Ref) -> int:
        """Return how many rows are above a row."""
        inside = self.state(ref.block).above(ref.part, self.scene.width)
        return sum(self.heights[: ref.block]) + inside + ref.row

    def ref_at(self, offset: int) -> Ref | None:
        """Return the row that has about `offset` rows above it."""
        if not self.blocks:
            return None
        sums = list(accumulate(self.heights))
        block = min(bisect_right(sums, offset), len(sums) - 1)
        left = offset - (sums[block] - self.heights[block])
        state = self.state(block)
        number, left = state.at(max(0, left), self.scene.width)
        rows = len(self.layout(state.parts[number]).rows)
        return Ref(block, number, max(0, min(left, rows - 1)))

    # What a block is surrounded by.

    def _around(self, index: int, block: Shown) -> Around:
        is_open = isinstance(block, TurnBlock) and block.is_open
        return Around(
            tuple(self._lead(index, block)),
            self._about(index, block),
            self._behind(block),
            self._hint(index, block),
            self.scene.now if is_open else None,
            self.scene.is_live or not is_open,
            self.scene.ago,
            self._lineage.get(block.block_id),
        )

    def _lead(self, index: int, block: Shown) -> list[tuple[str, Role | None]]:
        """Return the lines above a block."""
        lines: list[tuple[str, Role | None]] = []
        before = self.blocks[index - 1] if index else None
        if before is None:
            more = "earlier messages are being loaded" if self.has_more_before else ""
            lines += [(first, Role.DAY)] if (first := more or self.scene.start) else []
        day = words.day_of(time_of(block), self.scene.tz)
        if day is not None and (
            before is None or words.day_of(time_of(before), self.scene.tz) != day
        ):
            lines += [("", None), (words.day(day), Role.DAY)] if before else []
            lines += [] if before else [(words.day(day), Role.DAY)]
        if block.block_id == self.scene.unread_id:
            lines += [("", None), (f"new since {self.scene.unread_since}", Role.UNREAD)]
        both_notices = isinstance(before, NoticeBlock) and isinstance(block, NoticeBlock)
        if not (both_notices and not lines):
            lines.append(("", None))
        return lines

    def _about(self, index: int, block: Shown) -> str | None:
        """Return the message that a block answers, quoted, unless that is the last one above."""
        if isinstance(block, MessageBlock):
            return self._quote(block.reply_to_event_id)
        if not isinstance(block, TurnBlock):
            return None
        for other in reversed(self.blocks[max(0, index - MAX_LOOK_BACK) : index]):
            if isinstance(other, MessageBlock) and not other.is_pending:
                is_plain = other.event_id == block.source_event_id
                return None if is_plain else self._quote(block.source_event_id)
        return None

    def _behind(self, block: Shown) -> str | None:
        """Return the message that the same agent is busy with, quoted, for a queued turn."""
        if not isinstance(block, TurnBlock) or block.phase != "queued":
            return None
        for other in reversed(self.blocks):
            if not isinstance(other, TurnBlock) or not other.is_open:
                return None
            if other.author.actor_id == block.author.actor_id and other.phase != "queued":
                return self._quote(other.source_event_id)
        return None

    def _hint(self, index: int, block: Shown) -> str:
        """Return what can be done about a turn or a stopped loop; empty for everything else."""
        if isinstance(block, NoticeBlock) and block.loop == "stopped":
            later = self.blocks[index + 1 :]
            return loop_hint(self.scene.keys, goes_on=any(map(partial(goes_on, block), later)))
        if not isinstance(block, TurnBlock):
            return ""
        later = self.blocks[index + 1 : index + 1 + MAX_LOOK_AHEAD] if block.can_retry else ()
        is_taken_up = any(
            isinstance(other, MessageBlock) and other.again_of == block.turn_id for other in later
        )
        return turn_hint(block, self.scene.keys, is_taken_up=is_taken_up)

    def _quote(self, event_id: str | None) -> str | None:
        index = None if event_id is None else self._index.get(f"msg:{event_id}")
        source = None if index is None else self.blocks[index]
        if not isinstance(source, MessageBlock):
            return None
        line = " ".join(source.text.split())
        return f"“{line if len(line) <= MAX_QUOTE else line[:MAX_QUOTE] + '…'}”"

    # Counting.

    def counted(self, start: int, end: int) -> int:
        """Return how many of the blocks `start..end` are messages of the room's total."""
        return sum(self._counted[start:end])


MAX_LOOK_BACK: Final = 64
"""Blocks above a turn among which its message is looked for."""

MAX_LOOK_AHEAD: Final = 64
"""Blocks below a turn among which it may be taken up again."""

MAX_QUOTE: Final = 32
"""Characters of a message by which one knows it again."""


def time_of(block: Shown) -> str:
    """Return the ISO time that a block stands under."""
    if isinstance(block, TurnBlock):
        return block.ended_at or block.started_at or block.queued_at
    return block.at


def count_of(block: Shown) -> int:
    """How many of the messages that the room's total counts the block stands for."""
    return block.messages if isinstance(block, ThreadBlock) else is_counted(block)


def is_counted(block: Shown) -> bool:
    """Whether the block is one of the messages that the room's total counts."""
    if isinstance(block, MessageBlock):
        return not block.is_pending and block.refusal is None
    return isinstance(block, TurnBlock) and block.response_event_id is not None
