"""A model of one client beside a server that goes on writing: what may reach it, in any order.

`ReaderModel` holds the script (the truth), the view, and replies that were read at an earlier
moment than they are applied. `check` compares the view with the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from unittest.mock import patch

from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import BootstrapReply, EventPage, TurnInfo
from groupx_tui.state import window
from groupx_tui.state.agents import agent_view
from groupx_tui.state.model import Block, ClientView, TimelineView, TurnBlock
from groupx_tui.state.reduce import (
    apply_bootstrap,
    apply_events,
    apply_page,
    apply_reread,
    with_open_turns,
    with_reader_side,
)
from support.room_events import MAIN, RoomScript, agent_actor, agent_info, tool_body, turn_info

OTHER = "room:other"
ROOMS = (MAIN, OTHER)
AGENTS = ("codex", "kimi")
PAGE = 7
"""Small pages, so that they cut turns."""


@dataclass
class OpenTurn:
    turn_id: str
    key: str
    room: str
    status: str = "queued"
    tools: list[str] = field(default_factory=list)
    reasoning: str = ""


@dataclass
class AskedPage:
    page: EventPage
    side: Literal["before", "after", "replace"]
    edge: int
    window: int


class ReaderModel:
    """The truth, and a client of it."""

    def __init__(self) -> None:
        self.script = RoomScript()
        self.open: dict[str, OpenTurn] = {}
        self.seen = 0
        self.windows = 0
        self.asked: list[AskedPage] = []
        self.lost_text = False
        self.unread = dict.fromkeys(ROOMS, 0)
        self.view = ClientView()
        agents = tuple(agent_view(agent_info(key)) for key in AGENTS)
        self._truths = {
            room: ClientView(room_id=room, timeline=TimelineView(room), agents=agents)
            for room in ROOMS
        }
        self._truth_count = 0

    # what the server does

    def say(self, room: str, by_agent: bool) -> None:
        if by_agent:
            self.script.say("word", room=room, actor=agent_actor("codex"))
        else:
            self.script.say(f"hello {self.script.next_seq}", to=("codex",), room=room)

    def note(self, room: str, kind: str) -> None:
        self.script.write(kind, {"title": "T", "content": "x"}, room=room)

    def queue(self, room: str, key: str) -> None:
        turn_id = f"turn_{self.script.next_seq:03d}"
        self.script.queue(turn_id, key, room=room)
        self.open[turn_id] = OpenTurn(turn_id, key, room)

    def advance(self, turn: OpenTurn, step: str) -> None:
        script = self.script
        if turn.status == "queued":
            script.start(turn.turn_id, turn.key, room=turn.room)
            turn.status = "running"
        elif step == "text":
            script.delta(
                turn.turn_id, turn.key, f"[{script.next_seq}.{len(script.live)}]", turn.room
            )
        elif step == "think":
            script.reason(turn.turn_id, turn.key, "hm ", len(turn.reasoning), turn.room)
            turn.reasoning += "hm "
        elif step == "tool":
            call = f"call_{len(script.live)}"
            turn.tools.append(call)
            body = tool_body(turn.turn_id, call, ended=False, status="in_progress")
            script.stream("tool.progress", body, turn.key, turn.room)
        else:
            self._end(turn, step)

    def _end(self, turn: OpenTurn, outcome: str) -> None:
        self.script.end(
            turn.turn_id,
            turn.key,
            outcome=outcome,
            reasoning=turn.reasoning or None,
            tools=tuple(turn.tools),
            room=turn.room,
        )
        del self.open[turn.turn_id]

    # what reaches the client

    def bootstrap_reply(self, room: str) -> BootstrapReply:
        agents = tuple(agent_info(key) for key in AGENTS)
        active = tuple(info for info in self.open_infos() if info.room_id == room)
        return self.script.bootstrap(room, limit=PAGE, active=active, agents=agents)

    def open_infos(self) -> tuple[TurnInfo, ...]:
        return tuple(
            turn_info(
                turn.turn_id,
                turn.key,
                room_id=turn.room,
                status=turn.status,
                partial_text=self.script.answer_of(turn.turn_id) or None,
            )
            for turn in self.open.values()
        )

    def connect(self, room: str) -> None:
        """Bootstrap anew, as at the start."""
        self.windows += 1
        self.view = apply_bootstrap(ClientView(), self.bootstrap_reply(room))
        self.view = with_open_turns(self.view, self.open_infos(), is_first=True)
        self.seen = len(self.script.live)
        self.unread = dict.fromkeys(ROOMS, 0)

    def deliver(self, count: int, *, transient_too: bool = True) -> None:
        batch = self.script.live[self.seen : self.seen + count]
        self.seen += len(batch)
        for event in batch:
            if event.seq is not None and event.room_id != self.view.room_id:
                self.unread[event.room_id] += _is_news(event)
        if not transient_too:
            self.lost_text |= any(event.seq is None for event in batch)
            batch = [event for event in batch if event.seq is not None]
        self.view = apply_events(self.view, batch)

    def repeat(self, start: int, count: int) -> None:
        """Durable events that came already come again."""
        old = [event for event in self.script.live[: self.seen] if event.seq is not None]
        self.view = apply_events(self.view, old[start : start + count])

    def ask(self, side: Literal["before", "after"]) -> None:
        timeline, room = self.view.timeline, self.view.room_id
        if side == "before" and timeline.has_more_before:
            self.view = with_reader_side(self.view, "start")
            page = self.script.page(before=timeline.first_seq, limit=PAGE, room=room)
            self.asked.append(AskedPage(page, side, timeline.first_seq, self.windows))
        elif side == "after" and timeline.has_more_after:
            page = self.script.page(after=timeline.last_seq, limit=PAGE, room=room)
            self.asked.append(AskedPage(page, side, timeline.last_seq, self.windows))

    def ask_jump(self, around: int) -> None:
        self.windows += 1
        events = self.script.of_room(self.view.room_id)
        start = max(0, min(around, len(events)) - PAGE // 2)
        page = self.script.page_of(events[start : start + PAGE], self.view.room_id)
        self.asked.append(AskedPage(page, "replace", 0, self.windows))

    def apply_asked(self) -> None:
        """Apply the oldest reply, unless the window has moved since it was asked for."""
        if not self.asked:
            return
        asked, timeline = self.asked.pop(0), self.view.timeline
        edges = {"before": timeline.first_seq, "after": timeline.last_seq, "replace": 0}
        if asked.window == self.windows and asked.edge == edges[asked.side]:
            self.view = apply_page(self.view, asked.page, asked.side)

    def reread(self) -> None:
        """All that is loaded is read anew."""
        timeline = self.view.timeline
        events = [
            event
            for event in self.script.of_room(self.view.room_id)
            if timeline.first_seq <= (event.seq or 0) <= timeline.last_seq
        ]
        self.view = apply_reread(self.view, events)

    def switch(self, reply: BootstrapReply) -> None:
        self.windows += 1
        self.view = apply_bootstrap(self.view, reply)
        self.unread[self.view.room_id] = 0

    # what must be so

    def check(self) -> None:
        timeline = self.view.timeline
        truth = self._truth()
        loaded = [block for block in timeline.blocks if block.order_seq]
        expected = [
            block
            for block in truth.blocks
            if block.order_seq and timeline.first_seq <= block.order_seq <= timeline.last_seq
        ]
        assert [block.block_id for block in loaded] == [block.block_id for block in expected]
        for block, wanted in zip(loaded, expected, strict=True):
            if self._is_whole(wanted, timeline):
                assert block == wanted
            else:
                assert block.order_seq == wanted.order_seq
        self._check_open(timeline)

    def _truth(self) -> TimelineView:
        """The shown room, from all durable events in order."""
        new = self.script.durable[self._truth_count :]
        with patch.object(window, "MAX_BLOCKS", 1_000_000):
            for room, view in self._truths.items():
                self._truths[room] = apply_events(view, new)
        self._truth_count = len(self.script.durable)
        return self._truths[self.view.room_id].timeline

    def _is_whole(self, block: Block, timeline: TimelineView) -> bool:
        """Whether all events of a turn are in the loaded part."""
        if not isinstance(block, TurnBlock):
            return True
        return block.queued_seq >= timeline.first_seq

    def _check_open(self, timeline: TimelineView) -> None:
        if self.seen < len(self.script.live):
            return
        for entry in self.view.rooms:
            if entry.room_id != self.view.room_id:
                assert entry.unread == self.unread[entry.room_id]
        if timeline.has_more_after:
            return
        tail = [block for block in timeline.blocks if not block.order_seq]
        wanted = [turn for turn in self.open.values() if turn.room == self.view.room_id]
        assert {block.block_id for block in tail} == {f"turn:{turn.turn_id}" for turn in wanted}
        for block in tail:
            assert isinstance(block, TurnBlock)
            assert block.phase == self.open[block.turn_id].status
            if not self.lost_text:
                assert str(block.text) == self.script.answer_of(block.turn_id)

    def settle(self) -> None:
        """Everything arrives, the reader goes to the end, and reads back to the start."""
        self.asked.clear()
        self.deliver(len(self.script.live))
        while self.view.timeline.has_more_after:
            self.ask("after")
            self.apply_asked()
            self.check()
        while self.view.timeline.has_more_before:
            self.ask("before")
            self.apply_asked()
            self.check()


def _is_news(event: Event) -> bool:
    if event.type.startswith("turn.") and event.body.get("status") in ("failed", "interrupted"):
        return True
    return event.type == "message.created" and event.actor.kind != "user"


def changed_matches(before: ClientView, after: ClientView) -> None:
    """`changed` names what differs between two views of one window, and nothing else."""
    old = {block.block_id: block for block in before.timeline.blocks}
    differs: set[Any] = {
        block.block_id for block in after.timeline.blocks if old.get(block.block_id) != block
    }
    assert after.timeline.changed == differs
