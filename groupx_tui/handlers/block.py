"""The marked block of the timeline: answering it, copying it, loading all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupx_tui.screens.turn import message_screen
from groupx_tui.state.model import Block, MessageBlock, TurnBlock
from groupx_tui.widgets.composer.lines import EXCERPT_CHARS, Reply

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class BlockHandlers:
    """`block.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def reply(self, argument: str) -> None:
        """Answer the marked message."""
        block = self._app.handlers.marked_block()
        reply = None if block is None else reply_to(block)
        if reply is None:
            self._app.tell("Mark a message or a finished answer first: that can be replied to.")
            return
        self._app.room.composer.set_reply(reply)
        self._app.room.composer.editor.focus()

    def copy(self, argument: str) -> None:
        """Copy the selection, else what is marked."""
        self._app.room.timeline.action_copy()

    def copy_code(self, argument: str) -> None:
        """Copy a code block."""
        self._app.room.timeline.action_copy_code()

    def full_text(self, argument: str) -> None:
        """Load all of a text that is cut."""
        block = self._app.handlers.marked_block()
        if block is None or not getattr(block, "is_cut", False):
            self._app.tell("The marked message is not cut.")
            return
        self._app.attempt(self._app.session.load_full_text(block.block_id))

    def show(self, block_id: str) -> None:
        """Show the facts about a block (its header was clicked, or Enter pressed on it)."""
        for block in self._app.view.timeline.blocks:
            if block.block_id != block_id:
                continue
            if isinstance(block, TurnBlock):
                self._app.handlers.turn.show(block)
            elif isinstance(block, MessageBlock):
                self._app.push_screen(message_screen(self._app.keymap, block))


def reply_to(block: Block) -> Reply | None:
    """What a reply to `block` refers to; None when it cannot be replied to (yet)."""
    if isinstance(block, MessageBlock) and not block.is_pending and block.refusal is None:
        return Reply(block.event_id, block.author, block.text[: EXCERPT_CHARS * 2])
    if isinstance(block, TurnBlock) and block.response_event_id is not None:
        excerpt = str(block.text)[: EXCERPT_CHARS * 2]
        return Reply(block.response_event_id, block.author, excerpt)
    return None
