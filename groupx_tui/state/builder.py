"""A working copy of the whole view, used during one reduction: where each event goes.

The invariant: `freeze` gives the same view for the same durable events, in whatever order and
however often pages, bootstrap and stream brought them; a batch costs the sum of its events, and a
streamed delta touches only the open turns. `window` holds the loaded blocks, `turns` and
`messages` say what an event does to one block.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from groupx_shared.wire.base import WireModel
from groupx_shared.wire.bodies import (
    AgentsChangedBody,
    AgentStatusBody,
    MessageBody,
    TurnDispatchedBody,
    TurnQueuedBody,
    TurnStartedBody,
    TurnTerminalBody,
)
from groupx_shared.wire.context import CompactionBody, RedactedBody
from groupx_shared.wire.events import Event
from groupx_shared.wire.forgetting import PurgeBody
from groupx_tui.state import rooms
from groupx_tui.state.agents import agent_view, with_status
from groupx_tui.state.clean import clean_id, optional_line
from groupx_tui.state.deltas import LiveBody, with_live
from groupx_tui.state.messages import display_name, is_same_message, message_block
from groupx_tui.state.model import Author, ClientView, RoomEntry, TurnBlock
from groupx_tui.state.notices import notice_of
from groupx_tui.state.openturns import OpenTurns
from groupx_tui.state.purges import purge_view
from groupx_tui.state.reading import read_body
from groupx_tui.state.removal import without_texts
from groupx_tui.state.turns import PartBody, new_turn, with_part
from groupx_tui.state.upkeep import upkeep_view
from groupx_tui.state.window import Window

_Beginning = TurnQueuedBody | TurnDispatchedBody | TurnStartedBody


class ViewBuilder:
    """Mutable; made from a view, fed with events, frozen to the next view."""

    def __init__(self, view: ClientView) -> None:
        self.base = replace(view, ended=()) if view.ended else view
        self.cursor = view.cursor
        self.window = Window(view.timeline)
        self.open = OpenTurns(view.open_turns)
        self.agents = view.agents
        self.upkeep = view.upkeep
        self.purge = view.purge
        self.removals = view.removals
        self._ended: list[TurnBlock] = []
        self._rooms: dict[str, RoomEntry] | None = None

    @property
    def rooms(self) -> dict[str, RoomEntry]:
        """The room list by id, in its order; change it freely."""
        if self._rooms is None:
            self._rooms = {entry.room_id: entry for entry in self.base.rooms}
        return self._rooms

    @rooms.setter
    def rooms(self, entries: dict[str, RoomEntry]) -> None:
        self._rooms = entries

    def take_live(self, event: Event) -> None:
        """Take an event of the stream in."""
        body = read_body(event)
        if event.seq is None:
            self._take_transient(event, body)
        elif event.seq > 0:
            if isinstance(body, RedactedBody):
                self.removals += event.seq > self.cursor
                self._remove_texts(frozenset(map(clean_id, body.event_ids)))
            self._take_durable(event, body, event.seq)

    def take_loaded(self, event: Event) -> None:
        """Take a durable event of a page of the shown room in."""
        if event.seq is not None and event.seq > 0:
            self._take_shown(event, read_body(event), event.seq)

    def freeze(self) -> ClientView:
        """Return the next view; the same one when nothing happened."""
        self.window.trim()
        touched = self.open.settle(self.window.room_id)
        if self.open.membership_changed:
            self.rooms = rooms.with_open_counts(self.rooms, self.open)
        timeline = self.window.freeze(self.open.of_room(self.window.room_id), touched)
        if not timeline.changed and timeline == self.base.timeline:
            timeline = self.base.timeline
        view = replace(
            self.base,
            cursor=self.cursor,
            room_id=self.window.room_id,
            timeline=timeline,
            agents=self.agents,
            upkeep=self.upkeep,
            purge=self.purge,
            removals=self.removals,
            open_turns=self.open.frozen(),
            ended=tuple(self._ended),
            rooms=self.base.rooms if self._rooms is None else tuple(self._rooms.values()),
        )
        return view if timeline.changed or view != self.base else self.base

    def reach_end(self) -> None:
        """Say that the newest event of the room is loaded: cut turns are the open ones."""
        for turn in self.window.cut_turns.values():
            if self.open.get(turn.turn_id) is None:
                self.open.put(turn)
        self.window.cut_turns = {}
        self.window.new_after = 0

    def _remove_texts(self, event_ids: Set[str]) -> None:
        for block in list(self.window.closed):
            left = without_texts(block, event_ids)
            if left is not block:
                self.window.put(left)

    def _take_transient(self, event: Event, body: WireModel | None) -> None:
        if isinstance(body, AgentStatusBody):
            self.agents = with_status(self.agents, body)
        elif isinstance(body, AgentsChangedBody):
            self.agents = tuple(agent_view(info) for info in body.agents)
        elif isinstance(body, CompactionBody):
            if clean_id(body.room_id) == self.window.room_id:
                self.upkeep = upkeep_view(body, self.agents)
        elif isinstance(body, PurgeBody):
            self.purge = purge_view(body)
        elif isinstance(body, LiveBody):
            turn = self.open.get(clean_id(body.turn_id))
            if turn is not None:
                self.open.put(with_live(turn, body, optional_line(event.occurred_at)))

    def _take_durable(self, event: Event, body: WireModel | None, seq: int) -> None:
        self.cursor = max(self.cursor, seq)
        room_id = clean_id(event.room_id)
        is_shown = room_id == self.window.room_id
        entry = self.rooms.get(room_id) or rooms.unknown_room(room_id)
        is_new = seq > entry.last_seq
        if is_new:
            self.rooms[room_id] = rooms.with_event(entry, event, body, seq, is_shown=is_shown)
        if is_shown:
            self.window.count(seq, is_message=isinstance(body, MessageBody))
        if is_shown and self.window.covers(seq):
            self._take_shown(event, body, seq)
        elif is_new:
            self.window.new_after += is_shown and rooms.is_news(event, body)
            self._take_elsewhere(event, body, seq)

    def _take_shown(self, event: Event, body: WireModel | None, seq: int) -> None:
        """An event of the loaded part of the shown room."""
        self.window.note_seq(seq)
        if isinstance(body, PartBody) and body.turn_id:
            self._take_part(event, body, seq)
        elif isinstance(body, MessageBody):
            self._take_message(event, body, seq)
        elif (notice := notice_of(event, body, seq)) is not None:
            self.window.put(notice)

    def _take_part(self, event: Event, body: PartBody, seq: int) -> None:
        turn_id = clean_id(body.turn_id or "")
        open_turn, cut_turn = self.open.get(turn_id), self.window.cut_turns.get(turn_id)
        known = open_turn or cut_turn or self.window.closed_turn(turn_id)
        turn = self._grown(known or new_turn(turn_id, event), event, body, seq)
        if turn.order_seq is not None:
            self._end(open_turn, turn)
            self.window.cut_turns.pop(turn_id, None)
            self.window.put(turn)
        elif open_turn is not None or (cut_turn is None and not self.window.has_more_after):
            self.open.put(turn)
        else:
            self.window.cut_turns[turn_id] = turn

    def _take_elsewhere(self, event: Event, body: WireModel | None, seq: int) -> None:
        """An event of another room, or beside the loaded part: only open turns follow it."""
        if not isinstance(body, PartBody) or not body.turn_id:
            return
        turn_id = clean_id(body.turn_id)
        known = self.open.get(turn_id)
        if known is not None and isinstance(body, TurnTerminalBody):
            self._end(known, self._grown(known, event, body, seq))
            if known.room_id == self.window.room_id and seq > self.window.last_seq:
                self.window.hold(known)
        elif known is not None:
            self.open.put(self._grown(known, event, body, seq))
        elif isinstance(body, _Beginning) and self.window.closed_turn(turn_id) is None:
            begun = self.window.cut_turns.pop(turn_id, None) or new_turn(turn_id, event)
            self.open.put(self._grown(begun, event, body, seq))

    def _end(self, known: TurnBlock | None, ended: TurnBlock) -> None:
        """A turn has ended; that is news when it was known as open until now."""
        if known is not None:
            self._ended.append(ended)
        self.open.discard(ended.turn_id)

    def _grown(self, turn: TurnBlock, event: Event, body: PartBody, seq: int) -> TurnBlock:
        target = None
        if isinstance(body, TurnQueuedBody | TurnDispatchedBody):
            actor_id = clean_id(body.target_actor_id)
            names = {agent.actor_id: agent.name for agent in self.agents}
            target = Author(actor_id, display_name(actor_id, names), "agent")
        return with_part(turn, event, body, seq, target)

    def _take_message(self, event: Event, body: MessageBody, seq: int) -> None:
        block = message_block(event, body, seq, self.agents)
        for index, pending in enumerate(self.window.pending):
            if is_same_message(pending, block) and self.window.at(seq) is None:
                del self.window.pending[index]
                break
        self.window.put(block)
