"""The marked block of the timeline: answering it, copying it, loading all of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from groupx_tui.screens.chooser import Choice, Chooser
from groupx_tui.screens.turn import message_screen
from groupx_tui.state.model import Block, BlockId, MessageBlock, TurnBlock
from groupx_tui.widgets.composer.lines import EXCERPT_CHARS, Reply

if TYPE_CHECKING:
    from groupx_tui.app import GroupXApp


class BlockHandlers:
    """`block.*`."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app
        self._passing: tuple[str, Reply] | None = None
        """The room where a message is to be passed on, and which one."""

    def reply(self, argument: str) -> None:
        """Answer the marked message."""
        block = self._app.handlers.marked_block()
        reply = None if block is None else reply_to(block)
        if reply is None:
            self._app.tell("Mark a message or a finished answer first: that can be replied to.")
            return
        self._app.room.composer.set_reply(reply)
        self._app.room.composer.editor.focus()

    def forward(self, argument: str) -> None:
        """Pass the marked message on: choose a room, then write what goes with it."""
        block = self._app.handlers.marked_block()
        forward = None if block is None else reply_to(block)
        if forward is None:
            self._app.tell("Mark a message or a finished answer first: that can be passed on.")
            return
        here = self._app.view.room_id
        choices = [
            Choice(room.room_id, room.title, "this room" if room.room_id == here else room.room_id)
            for room in self._app.view.rooms
            if not room.is_archived
        ]

        def chosen(room_id: str | None) -> None:
            if room_id is not None:
                self._passing = (room_id, forward)
                self._app.handlers.room.go(room_id)
                self.room_opened(self._app.view.room_id)

        title = f"Pass on what {forward.author.name} wrote"
        self._app.push_screen(Chooser(self._app.keymap, title, choices, marked=here), chosen)

    def room_opened(self, room_id: str) -> None:
        """A room is shown: bring what is to be passed on there."""
        if self._passing is not None and self._passing[0] == room_id:
            self._app.room.composer.set_forward(self._passing[1])
            self._app.room.composer.editor.focus()
            self._passing = None

    def origin(self, argument: str) -> None:
        """Go to the message that the marked one answers or passes on."""
        block = self._app.handlers.marked_block()
        event_id = None if block is None else origin_of(block)
        if event_id is None:
            self._app.tell("The marked part answers nothing.")
            return
        self._app.attempt(self._app.session.jump_to_event(event_id), self._arrived)

    def _arrived(self, block_id: BlockId | None) -> None:
        self._app.draw_view()
        if block_id is None or not self._app.room.timeline.jump_to(block_id):
            self._app.tell("That message is not there any more.")

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
                remove = partial(self._app.handlers.removal.block, block)
                offers = {} if block.is_pending or block.refusal else {"redact": remove}
                self._app.push_screen(message_screen(self._app.keymap, block, offers))


def origin_of(block: Block) -> str | None:
    """Return the event that `block` passes on or answers; None when there is none."""
    if isinstance(block, MessageBlock):
        return block.forwarded_event_id or block.reply_to_event_id
    return block.source_event_id if isinstance(block, TurnBlock) else None


def reply_to(block: Block) -> Reply | None:
    """What a reply to `block` refers to; None when it cannot be replied to (yet)."""
    if isinstance(block, MessageBlock) and not block.is_pending and block.refusal is None:
        return Reply(block.event_id, block.author, block.text[: EXCERPT_CHARS * 2])
    if isinstance(block, TurnBlock) and block.response_event_id is not None:
        excerpt = str(block.text)[: EXCERPT_CHARS * 2]
        return Reply(block.response_event_id, block.author, excerpt)
    return None
