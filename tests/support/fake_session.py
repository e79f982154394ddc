"""A client session without a server: holds a view, notes what it was asked, answers at once.

The other half is the app under test; `push` hands it a newer view as the real session would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from groupx_shared.errors import GroupXError, ServerUnreachableError
from groupx_shared.wire.bodies import TurnStatus
from groupx_shared.wire.replies import (
    AdviceReply,
    CancelReply,
    ContextUsage,
    MessageAccepted,
    RestartReply,
    RoomInfo,
    RootContinued,
)
from groupx_shared.wire.roots import RootCancelled
from groupx_shared.wire.search import SearchHit, SearchReply
from groupx_tui.client.lineage import Lineage
from groupx_tui.client.session import ClientSession
from groupx_tui.client.viewstore import OnChange
from groupx_tui.client.windows import block_of_event
from groupx_tui.state.model import (
    AgentView,
    Author,
    BlockId,
    ClientView,
    MessageBlock,
    RoomEntry,
    TimelineView,
    TurnBlock,
)
from groupx_tui.state.streamtext import StreamText
from support.fake_records import FakeRecords
from support.fake_removals import FakeRemovals
from support.fake_side import FakeSide

AT = "2026-11-30T09:15:00.000Z"
YOU = Author("user:web", "You", "user")

GUIDE = AgentView(
    "agent:guide", "Guide", "ready", None, enabled=True, driver="builtin", is_default=True
)
CODEX = AgentView("agent:codex", "Codex", "stopped", "starts when needed", enabled=True)
KIMI = AgentView("agent:kimi-k2", "Kimi", "failed", "kimi is not installed", enabled=True)
OFF = AgentView("agent:old", "Old one", "disabled", None, enabled=False)
ROOMS = (
    RoomEntry("room:main", "Main", 12),
    RoomEntry("room:ideas", "Ideas", 9, unread=3),
    RoomEntry("room:work", "Work on the parser", 5, open_turns=1),
    RoomEntry("room:done", "Done things", 2, is_archived=True),
)


def message(seq: int, text: str, author: Author = YOU, **more: Any) -> MessageBlock:
    """A message block at `seq`."""
    return MessageBlock(f"msg:evt_{seq}", seq, f"evt_{seq}", author, AT, text, **more)


def turn(turn_id: str, agent: AgentView, text: str = "", **more: Any) -> TurnBlock:
    """A turn block of `agent`; open unless `order_seq` is given."""
    defaults: dict[str, Any] = {"order_seq": None, "queued_seq": 1, "phase": "running"}
    author = Author(agent.actor_id, agent.name, "agent")
    fields = defaults | more
    return TurnBlock(
        block_id=f"turn:{turn_id}",
        turn_id=turn_id,
        author=author,
        queued_at=AT,
        text=StreamText(text),
        **fields,
    )


def hit(seq: int, snippet: str, *marks: tuple[int, int], room: str = "room:main") -> SearchHit:
    """A message that a search found."""
    return SearchHit(
        kind="message",
        id=f"evt_{seq}",
        room_id=room,
        seq=seq,
        actor_id="agent:codex",
        type="message.created",
        occurred_at=AT,
        snippet=snippet,
        marks=marks,
        score=1.0 / seq,
    )


def sample_view() -> ClientView:
    """A live view with three rooms, four agents and a short talk."""
    blocks = (
        message(1, "What can you do?", to=("Guide",)),
        turn(
            "turn_1",
            GUIDE,
            "I find, list and quote what was said here.\n\nTry `/find parser`.",
            order_seq=4,
            phase="completed",
            response_event_id="evt_3",
            ended_at=AT,
        ),
        message(5, "And who is @codex?", to=("Codex",)),
    )
    timeline = TimelineView("room:main", blocks, 1, 5, total_messages=3, total_events=5)
    return ClientView(
        connection="live",
        ledger_id="ledger",
        cursor=5,
        timeline=timeline,
        rooms=ROOMS,
        agents=(GUIDE, CODEX, KIMI, OFF),
    )


class FakeSession(ClientSession):
    """Answers every command at once; `refusal` is raised by the next one instead."""

    side: FakeSide

    def __init__(self, view: ClientView | None = None) -> None:
        self._now = view if view is not None else sample_view()
        self._on_change: OnChange | None = None
        self.records = self.memory = FakeRecords()
        self.removals = self.removing = FakeRemovals()
        self.started = asyncio.Event()
        self.asked: list[tuple[Any, ...]] = []
        self.refusal: GroupXError | None = None
        self.messages: dict[str, MessageBlock] = {}
        """What `whole_message` knows, by event id."""
        self.context_percent: float | None = 12.0
        """How full the context is; None: the server does not tell."""
        self.found = SearchReply(hits=())
        """What every search finds."""
        self.lineages: dict[str, Lineage] = {}
        """What a root led to, loaded or not."""
        self.event_rooms: dict[str, str] = {}
        """Rooms of events that are not in the shown one."""
        self.cancel_status: TurnStatus = "cancelling"
        self.advice_delivery: Literal["taken", "queued", "unknown"] = "taken"
        """What the next cancels are answered with."""
        self.side = FakeSide()
        self.runs = 0
        self.is_closed = False

    @property
    def view(self) -> ClientView:
        return self._now

    def push(self, **changes: Any) -> None:
        """Change the view and tell the app."""
        self._now = replace(self._now, **changes)
        if self._on_change is not None:
            self._on_change(self._now)

    async def run(self, on_change: OnChange) -> None:
        self.runs += 1
        self._on_change = on_change
        self.started.set()
        self.push()
        await asyncio.Event().wait()

    def hurry(self) -> None:
        self.asked.append(("hurry",))

    async def aclose(self) -> None:
        self.is_closed = True

    def _note(self, *asked: Any) -> None:
        self.asked.append(asked)
        if self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            raise refusal

    async def send(
        self,
        text: str,
        to: Sequence[str] = (),
        reply_to_event_id: str | None = None,
        *,
        observers: Sequence[str] = (),
        brief: str = "",
        forwarded_event_id: str | None = None,
    ) -> MessageAccepted:
        watch = ((tuple(observers), brief),) if observers else ()
        passed_on = (forwarded_event_id,) if forwarded_event_id else ()
        self._note("send", text, tuple(to), reply_to_event_id, *watch, *passed_on)
        return self._accepted()

    def dismiss(self, block_id: BlockId) -> None:
        self._note("dismiss", block_id)

    async def load_before(self) -> bool:
        self._note("load_before")
        return True

    async def load_after(self) -> bool:
        self._note("load_after")
        return True

    async def jump(self, where: int | Literal["first", "last"]) -> BlockId | None:
        self._note("jump", where)
        blocks = self.view.timeline.blocks
        return blocks[0].block_id if blocks else None

    async def jump_to_event(self, event_id: str) -> BlockId | None:
        self._note("jump_to_event", event_id)
        room_id = self.event_rooms.get(event_id, self.view.room_id)
        if room_id != self.view.room_id:
            await self.switch_room(room_id)
        return block_of_event(self.view.timeline, event_id)

    async def jump_to_time(self, at: datetime) -> BlockId | None:
        self._note("jump_to_time", at)
        blocks = self.view.timeline.blocks
        return blocks[0].block_id if blocks else None

    async def search(
        self, query: str, *, everywhere: bool = False, limit: int = 500
    ) -> SearchReply:
        self._note("search", query, everywhere)
        return self.found

    def set_reader_side(self, side: Literal["start", "end"]) -> None:
        self.asked.append(("set_reader_side", side))

    async def switch_room(self, room_id: str) -> None:
        self._note("switch_room", room_id)
        rooms = tuple(
            replace(room, unread=0) if room.room_id == room_id else room for room in self.view.rooms
        )
        self.push(room_id=room_id, timeline=TimelineView(room_id), rooms=rooms)

    async def create_room(self, title: str) -> RoomInfo:
        self._note("create_room", title)
        room_id = f"room:{title.lower()}"
        self.push(rooms=(*self.view.rooms, RoomEntry(room_id, title, 0)))
        return RoomInfo(room_id=room_id, title=title, created_at=AT)

    async def change_room(
        self, room_id: str, *, title: str | None = None, archived: bool | None = None
    ) -> RoomInfo:
        self._note("change_room", room_id, title, archived)
        rooms = tuple(
            replace(
                room,
                title=title or room.title,
                is_archived=room.is_archived if archived is None else archived,
            )
            if room.room_id == room_id
            else room
            for room in self.view.rooms
        )
        self.push(rooms=rooms)
        return RoomInfo(room_id=room_id, title=title or "", created_at=AT)

    async def cancel(self, turn_id: str) -> CancelReply:
        self._note("cancel", turn_id)
        accepted = self.cancel_status in ("cancelling", "cancelled")
        return CancelReply(turn_id=turn_id, accepted=accepted, status=self.cancel_status)

    async def advise(self, turn_id: str, content: str) -> AdviceReply:
        self._note("advise", turn_id, content)
        return AdviceReply(message_event_id="evt_advice", delivery=self.advice_delivery)

    async def retry(self, turn_id: str) -> MessageAccepted:
        self._note("retry", turn_id)
        return self._accepted()

    async def go_on(self, turn_id: str) -> MessageAccepted:
        self._note("go_on", turn_id)
        return self._accepted()

    async def cancel_root(self, root_id: str) -> RootCancelled:
        self._note("cancel_root", root_id)
        turns = [turn for turn in self.view.open_turns if turn.root_id == root_id]
        return RootCancelled(
            correlation_id=root_id,
            room_id=self.view.room_id,
            turns=tuple(
                CancelReply(turn_id=turn.turn_id, accepted=True, status="cancelling")
                for turn in turns
            ),
        )

    async def lineage(self, root_id: str) -> Lineage:
        self._note("lineage", root_id)
        return self.lineages[root_id]

    async def continue_root(self, root_id: str) -> RootContinued:
        self._note("continue_root", root_id)
        return RootContinued(correlation_id=root_id, room_id=self.view.room_id, continues=1)

    def _accepted(self) -> MessageAccepted:
        return MessageAccepted(
            message_event_id="evt_9", seq=9, room_id=self.view.room_id, correlation_id="c", turns=()
        )

    async def whole_message(self, event_id: str) -> MessageBlock:
        self._note("whole_message", event_id)
        return self.messages[event_id]

    async def restart_agent(self, actor_id: str) -> RestartReply:
        self._note("restart_agent", actor_id)
        return RestartReply(actor_id=actor_id, accepted=True)

    async def context_usage(self) -> ContextUsage:
        self.asked.append(("context_usage", self.view.room_id))
        if self.context_percent is None:
            raise ServerUnreachableError("No answer.")
        return ContextUsage(
            room_id=self.view.room_id,
            through_seq=1,
            estimated_characters=1,
            max_characters=1,
            compaction_trigger_characters=1,
            utilization_percent=self.context_percent,
            uncompacted_message_count=1,
        )

    async def load_full_text(self, block_id: BlockId) -> str:
        self._note("load_full_text", block_id)
        return "whole"


class MemoryDrafts:
    """Drafts that live as long as the test."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.problem: str | None = None
        self.is_closed = False

    def load(self, room_id: str) -> str:
        return self.texts.get(room_id, "")

    def save(self, room_id: str, text: str) -> None:
        self.texts[room_id] = text

    def close(self) -> None:
        self.is_closed = True


class MemoryHistory:
    """Sent texts that live as long as the test."""

    def __init__(self, texts: dict[str, list[str]]) -> None:
        self.texts = texts
        self.problem: str | None = None

    def load(self, room_id: str) -> list[str]:
        return list(self.texts.get(room_id, []))

    def add(self, room_id: str, text: str) -> None:
        self.texts.setdefault(room_id, []).append(text)

    def forget(self, text: str) -> None:
        for room_id, texts in self.texts.items():
            self.texts[room_id] = [each for each in texts if text not in each]
