"""Says in lines what changed from one view to the next. Pure.

Invariants: each message and each end of a turn is said once, whole, in its order; what streams is
not said until it is whole, so that nothing is read out twice. Counterpart: `client`, which prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from groupx_shared.english import counted
from groupx_tui.screens.turn import PHASE_WORDS
from groupx_tui.state.model import (
    Block,
    ClientView,
    MessageBlock,
    NoticeBlock,
    TurnBlock,
)
from groupx_tui.widgets.banner import connection_sentence
from groupx_tui.widgets.header import missing_room_sentence, room_title
from groupx_tui.widgets.timeline.hints import is_uncertain
from groupx_tui.widgets.timeline.words import clock

FIRST_BLOCKS: Final = 6
"""Blocks of a room that are said when it is entered; /more says earlier ones."""
BRIEF: Final = frozenset({"waits for the agent", "has the message"})
"""States that pass in a moment: hearing each would be a bore."""
RETRY: Final = "/retry sends it again"
GO_ON: Final = "/continue asks it to go on"


class Narrator:
    """Remembers what was said of the shown room."""

    def __init__(self) -> None:
        self._room_id: str | None = None
        self._said_seq = 0
        self.first_seq = 0
        """The earliest event of the shown room that was said; what /more goes on from."""
        self._phases: dict[str, str] = {}
        self._pending: dict[str, str | None] = {}
        self._unread: dict[str, int] = {}
        self._missed = ""
        self._connection = ""
        self._was_live = False

    def follow(self, view: ClientView) -> Iterator[str]:
        """Yield what is to be said about a newer view."""
        yield from self._connected(view)
        if not view.ledger_id:
            return
        if view.room_id != self._room_id:
            yield from self._entered(view)
        else:
            yield from self._new_blocks(view)
        yield from self._elsewhere(view)

    def _connected(self, view: ClientView) -> Iterator[str]:
        sentence = connection_sentence(view)
        if sentence == self._connection:
            return
        self._connection = sentence
        if sentence:
            yield sentence
        elif self._was_live:
            yield "Connected again."
        self._was_live = self._was_live or not sentence

    def _entered(self, view: ClientView) -> Iterator[str]:
        self._room_id = view.room_id
        self._phases, self._pending = {}, {}
        timeline = view.timeline
        count = timeline.total_messages
        if view.missing_room and view.missing_room != self._missed:
            self._missed = view.missing_room
            yield missing_room_sentence(view)
        yield f"Room {room_title(view)}, {counted(count, 'message')}."
        closed = [block for block in timeline.blocks if block.order_seq]
        shown = closed[-FIRST_BLOCKS:]
        if len(closed) > len(shown) or timeline.has_more_before:
            yield "/more says earlier ones."
        for block in shown:
            yield from block_lines(block)
        self._said_seq = max((block.order_seq or 0 for block in closed), default=0)
        self.first_seq = shown[0].order_seq or 0 if shown else timeline.last_seq + 1
        yield from self._new_blocks(view)

    def _new_blocks(self, view: ClientView) -> Iterator[str]:
        fresh: list[Block] = []
        for block in reversed(view.timeline.blocks):
            if block.order_seq and block.order_seq <= self._said_seq:
                break
            fresh.append(block)
        for block in reversed(fresh):
            if isinstance(block, MessageBlock) and block.is_pending:
                yield from self._on_its_way(block)
            elif block.order_seq:
                self._said_seq = block.order_seq
                yield from self._closed(block)
            elif isinstance(block, TurnBlock):
                yield from self._moved(block)

    def _on_its_way(self, message: MessageBlock) -> Iterator[str]:
        """A message that this client sends: said only when it was refused."""
        if message.refusal is not None and self._pending.get(message.block_id) != message.refusal:
            self._pending[message.block_id] = message.refusal
            yield f"Not sent: {message.refusal}"

    def _closed(self, block: Block) -> Iterator[str]:
        if isinstance(block, MessageBlock) and block.author.kind == "user":
            # The person has just typed it: what is new is that it is on disk, and for whom.
            yield f"Sent to {', '.join(block.to) or 'nobody'}, number {block.order_seq}."
            return
        if isinstance(block, TurnBlock):
            self._phases.pop(block.turn_id, None)
        yield from block_lines(block)

    def _moved(self, turn: TurnBlock) -> Iterator[str]:
        state = turn_state(turn)
        if self._phases.get(turn.turn_id) != state:
            self._phases[turn.turn_id] = state
            if state not in BRIEF:
                yield f"{turn.author.name}: {state}."

    def _elsewhere(self, view: ClientView) -> Iterator[str]:
        for room in view.rooms:
            before = self._unread.get(room.room_id, 0)
            self._unread[room.room_id] = room.unread
            if room.unread > before and not before and room.room_id != view.room_id:
                yield f"New in {room.title}; /room {room.room_id.removeprefix('room:')} goes there."


def block_lines(block: Block) -> Iterator[str]:
    """Yield a block as lines: a heading, then its text."""
    if isinstance(block, NoticeBlock):
        yield f"{block.tone.capitalize() if block.tone != 'info' else 'Note'}: {block.text}"
    elif isinstance(block, MessageBlock):
        to = f" to {', '.join(block.to)}" if block.to else ""
        yield f"{block.author.name}{to}, {clock(block.at, None)}, number {block.order_seq}:"
        yield block.text
        if block.is_cut:
            yield "(cut here)"
    else:
        yield from _turn_lines(block)


def _turn_lines(turn: TurnBlock) -> Iterator[str]:
    name, at = turn.author.name, clock(turn.ended_at or turn.queued_at, None)
    verb = "answers" if turn.phase == "completed" else turn_state(turn)
    yield f"{name} {verb}, {at}, number {turn.order_seq}{_used(turn)}:"
    if len(turn.text):
        yield str(turn.text)
    if turn.is_cut:
        yield "(cut here)"
    if turn.phase == "completed":
        return
    if turn.error_message or turn.error_code:
        yield f"Because: {turn.error_message or turn.error_code}"
    if is_uncertain(turn):
        yield "Nobody knows how far it came. A retry may do it twice."
    offers = [RETRY if turn.can_retry else "", GO_ON if turn.can_continue else ""]
    yield "; ".join(offer for offer in offers if offer) + "."


def _used(turn: TurnBlock) -> str:
    count = len(turn.tools)
    return f", {counted(count, 'tool call')}" if count else ""


def turn_state(turn: TurnBlock) -> str:
    """How a turn stands, in a few words that can be heard."""
    if turn.phase == "queued":
        place = turn.queue_position
        return f"waits, {place} before it" if place else "waits for the agent"
    if turn.phase == "interrupted":
        return "is uncertain" if is_uncertain(turn) else "was interrupted"
    words = {
        "dispatching": "has the message",
        "running": "works",
        "cancelling": "was asked to stop",
        "failed": "failed",
        "cancelled": "was cancelled",
    }
    return words.get(turn.phase, PHASE_WORDS[turn.phase])


def as_text(lines: Iterable[str]) -> str:
    """Join lines as they are printed."""
    return "".join(f"{line}\n" for line in lines)
