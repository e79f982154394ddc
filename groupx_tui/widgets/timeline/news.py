"""What came while the reader was away from the end: how much is new, and where new begins.

Invariant: nothing is new while the end is in view and followed. The unread line is drawn once,
before the first block that came after the reader left; it stays until he leaves again.
"""

from __future__ import annotations

from typing import Final

from groupx_tui.state.model import MessageBlock, Shown, TurnBlock
from groupx_tui.widgets.timeline.document import Document

_FILL: Final = 0.8
"""Share of a line that prose fills on average."""

MAX_OPEN: Final = 64
"""Open turns stand at the end; more than this are not looked for."""


def birth_of(block: Shown) -> int:
    """Return the seq at which a block appeared; 0 for a message that is still on its way."""
    if isinstance(block, TurnBlock):
        return block.queued_seq
    return block.order_seq or 0


class News:
    """Counts what is new in one room."""

    def __init__(self) -> None:
        self._after_seq: int | None = None
        self._since = ""
        self._lengths: dict[str, int] = {}

    def leave(self, document: Document, since: str, after_seq: int | None = None) -> None:
        """The reader leaves the end; `since` is the time as it is drawn, `after_seq` what he has
        seen (None: all that is there)."""
        self._since = since
        recent = document.blocks[-MAX_OPEN:]
        seen = max((birth_of(block) for block in recent), default=0)
        self._after_seq = seen if after_seq is None else after_seq
        self._lengths = {
            block.block_id: len(block.text)
            for block in recent
            if isinstance(block, TurnBlock) and block.is_open
        }

    def back(self) -> None:
        """The reader is at the end again."""
        self._after_seq = None

    def new_blocks(self, document: Document) -> list[int]:
        """Return the indexes of the blocks that came since the reader left, in order."""
        after = self._after_seq
        found: list[int] = []
        if after is None:
            return found
        for index in range(len(document.blocks) - 1, -1, -1):
            block = document.blocks[index]
            if birth_of(block) > after:
                found.append(index)
            elif block.order_seq and block.order_seq <= after:
                break  # closed blocks stand in the order of their seq
        return found[::-1]

    def note(self, document: Document) -> bool:
        """Place the unread line when something came since the reader left; returns whether it
        was placed now."""
        new = self.new_blocks(document)
        if not new or document.blocks[new[0]].block_id == document.scene.unread_id:
            return False
        document.scene.unread_id = document.blocks[new[0]].block_id
        document.scene.unread_since = self._since
        return True

    def count(self, document: Document, last_seen: int) -> tuple[int, int]:
        """Return the new blocks below block number `last_seen`, and about how many lines the
        turns grew that were open when the reader left."""
        if self._after_seq is None:
            return 0, 0
        blocks = sum(
            index > last_seen and not is_own(document.blocks[index])
            for index in self.new_blocks(document)
        )
        cells = max(8, int(document.scene.width * _FILL))
        lines = 0
        for block_id, length in self._lengths.items():
            index = document.locate(block_id)
            block = None if index is None else document.blocks[index]
            if isinstance(block, TurnBlock):
                lines += -((length - len(block.text)) // cells)
        return blocks, max(0, lines)


def is_own(block: Shown) -> bool:
    """Whether the reader wrote the block himself."""
    return isinstance(block, MessageBlock) and block.author.kind == "user"
