"""Texts that a person had removed for good: what is loaded of them shows a tombstone, at once.

Pages that are read later hold it already; so both ways lead to the same view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Final

from groupx_tui.state.model import Block, ClientView, MessageBlock, NoticeBlock, TurnBlock
from groupx_tui.state.streamtext import StreamText

TOMBSTONE: Final = "[removed]"
"""As the server writes it."""
LEAST_TELLING: Final = 8
"""Characters of a text that is no chance where it stands in another one."""


class AfterRemovals:
    """Has what shows texts read anew, each time that some were removed since `view`."""

    def __init__(self, view: ClientView, read_anew: Callable[[], object]) -> None:
        self._count = view.removals
        self._read_anew = read_anew

    def __call__(self, view: ClientView) -> None:
        """A newer view."""
        if view.removals != self._count:
            self._count = view.removals
            self._read_anew()


def without_texts(block: Block, event_ids: Set[str]) -> Block:
    """The block without what these events said; the same one when it says nothing of them."""
    match block:
        case MessageBlock(event_id=event_id) if event_id in event_ids:
            return replace(block, text=TOMBSTONE, is_cut=False)
        case TurnBlock(response_event_id=str(event_id)) if event_id in event_ids:
            return replace(block, text=StreamText(TOMBSTONE), is_cut=False)
        case NoticeBlock() if block.block_id.removeprefix("note:") in event_ids:
            return replace(block, text=TOMBSTONE)
        case _:
            return block


def without_text(entries: Sequence[str], text: str) -> list[str]:
    """Texts that a person sent, but those that are this one, or have it in them."""
    sought = text.strip()
    if len(sought) < LEAST_TELLING:
        return [entry for entry in entries if not sought or entry.strip() != sought]
    return [entry for entry in entries if sought not in entry]
