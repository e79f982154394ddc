"""Stopping a turn; one that still waits gives its text back to the composer.

Invariant: what is said is what the server answered: a turn that the agent has already is being
stopped, not taken back, and a text comes back only when no other agent got it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupx_tui.handlers.block import reply_to
from groupx_tui.state.model import MessageBlock, TurnBlock
from groupx_tui.widgets.composer.lines import Reply

if TYPE_CHECKING:
    from groupx_shared.wire.replies import CancelReply
    from groupx_tui.app import GroupXApp


class Withdrawal:
    """Stops turns of one app's session."""

    def __init__(self, app: GroupXApp) -> None:
        self._app = app

    def stop(self, turn: TurnBlock) -> None:
        """Ask for the end of a turn, and say what became of that."""
        self._app.attempt(
            self._app.session.cancel(turn.turn_id), lambda reply: self._asked(turn, reply)
        )

    def _asked(self, turn: TurnBlock, reply: CancelReply) -> None:
        if not reply.accepted:
            self._app.tell("That turn had ended already.")
        elif reply.status == "cancelled" and turn.source_event_id and turn.hop_count == 0:
            self._app.attempt(
                self._message_of(turn.source_event_id), lambda found: self._give_back(turn, *found)
            )
        elif turn.phase == "queued":
            self._app.tell(f"{turn.author.name} has it already, and was asked to stop.")

    async def _message_of(self, event_id: str) -> tuple[MessageBlock, Reply | None]:
        """The message that woke the turn, and what it answers."""
        message = await self._app.session.whole_message(event_id)
        if message.reply_to_event_id is None:
            return message, None
        answered = await self._app.session.whole_message(message.reply_to_event_id)
        return message, reply_to(answered)

    def _give_back(self, turn: TurnBlock, message: MessageBlock, reply: Reply | None) -> None:
        others = [name for name in message.to if name != turn.author.name]
        if message.author.kind != "user":
            return
        if others:
            self._app.tell(f"Taken back from {turn.author.name}; {', '.join(others)} still has it.")
        elif turn.room_id in ("", self._app.view.room_id):
            self._app.room.composer.restore(message.text, reply)
            self._app.room.composer.editor.focus()
