"""An in-memory stand-in for the use cases and the ledger: real shapes, no disk, no agents.

Implements `groupx_server.http.ports.Rooms` and the two protocols of the fan-out. `commit` adds
durable events and wakes those who follow; refusals are those of the real thing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import orjson

from groupx_server.http.ports import DurableFrameSource, EventRows, Source
from groupx_server.rooms.again import Again
from groupx_shared.errors import ErrorCode, RefusedError
from groupx_shared.ids import MAIN_ROOM
from groupx_shared.names import unknown_name
from groupx_shared.version import EVENT_SCHEMA
from groupx_shared.wire.events import Event
from groupx_shared.wire.replies import (
    ActorUsage,
    AdviceReply,
    AgentInfo,
    AgentList,
    BootstrapReply,
    CancelReply,
    MessageAccepted,
    QueuedTurn,
    ReloadReply,
    RestartReply,
    RoomInfo,
    RoomList,
    RoomReply,
    RootContinued,
    TextReply,
    TurnInfo,
    TurnList,
    UsageReply,
    UsageTotals,
)
from groupx_shared.wire.requests import ChangeRoom, CreateRoom, SendMessage
from support.fake_contexts import FakeContexts
from support.fake_forgetting import FakeForgetting
from support.fake_memories import FakeMemories
from support.fake_roots import FakeRoots
from support.fake_searching import FakeSearching

WHEN: Final = "2026-11-30T12:00:00.000Z"
USER: Final = {"actorId": "user:web", "kind": "user", "displayName": "You"}


class FakeLedger:
    """Durable events in a list; `reads` counts the pages that were read."""

    def __init__(self) -> None:
        self.events: list[DurableFrameSource] = []
        self.last_seq = 0
        self.reads = 0
        self.answer_delay = 1
        """Turns of the loop between a read's snapshot and its answer, as with a real thread."""
        self.read_error: Exception | None = None
        """Raised by the next reads while it is set."""
        self._changed = asyncio.Event()

    def commit(
        self,
        count: int = 1,
        room_id: str = MAIN_ROOM,
        kind: str = "message.created",
        **body: Any,
    ) -> int:
        """Add `count` events and return the newest seq."""
        for _ in range(count):
            seq = len(self.events) + 1
            data = make_event(seq, room_id, kind, body or {"content": f"text {seq}"})
            self.events.append(DurableFrameSource(seq, room_id, data))
        return self.publish()

    def publish(self) -> int:
        """Make all events visible and wake those who wait."""
        self.last_seq = len(self.events)
        waiting, self._changed = self._changed, asyncio.Event()
        waiting.set()
        return self.last_seq

    async def changed(self, after_seq: int) -> int:
        while self.last_seq <= after_seq:
            await self._changed.wait()
        return self.last_seq

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        await asyncio.sleep(0)
        self.reads += 1
        if self.read_error is not None:
            raise self.read_error
        found: list[DurableFrameSource] = []
        for row in self.events[after_seq : self.last_seq]:
            if room_id is None or row.room_id == room_id:
                found.append(row)
                if len(found) == limit:
                    break
        for _ in range(self.answer_delay):
            await asyncio.sleep(0)
        return found


def make_event(seq: int | None, room_id: str, kind: str, body: dict[str, Any]) -> bytes:
    """An envelope as JSON; transient without a seq."""
    event: dict[str, Any] = {
        "schema": EVENT_SCHEMA,
        "eventId": f"evt_{seq or 'transient'}",
        "roomId": room_id,
        "type": kind,
        "actor": USER,
        "to": [],
        "correlationId": "corr_1",
        "occurredAt": WHEN,
        "durability": "durable" if seq else "transient",
        "body": body,
    }
    return orjson.dumps(event | {"seq": seq} if seq else event)


class FakeRooms:
    """The use cases over a `FakeLedger`."""

    def __init__(self, ledger: FakeLedger | None = None) -> None:
        self.ledger = ledger or FakeLedger()
        self.room_ids: dict[str, str] = {MAIN_ROOM: "Main"}
        self.texts: dict[str, str] = {}
        self.sent: list[tuple[SendMessage, Source]] = []
        self.fault: Exception | None = None
        """Raised by every use case while it is set."""
        self.advice: list[tuple[str, str, str]] = []
        """Turn, words, who said them."""
        self._memories = FakeMemories()
        self._roots = FakeRoots(lambda room_id: self._room(room_id).room_id)
        self._forgetting = FakeForgetting()
        self._contexts = FakeContexts(lambda room_id: self._room(room_id).room_id)
        self._searching = FakeSearching()

    @property
    def memories(self) -> FakeMemories:
        self._enter()
        return self._memories

    @property
    def roots(self) -> FakeRoots:
        """Roots."""
        return self._roots

    @property
    def contexts(self) -> FakeContexts:
        """What agents are told."""
        return self._contexts

    @property
    def forgetting(self) -> FakeForgetting:
        """Removing texts for good."""
        return self._forgetting

    @property
    def searching(self) -> FakeSearching:
        self._enter()
        return self._searching

    def _enter(self) -> None:
        if self.fault is not None:
            raise self.fault

    def _room(self, room_id: str) -> RoomInfo:
        if room_id not in self.room_ids:
            known = [room.removeprefix("room:") for room in self.room_ids]
            sentence = unknown_name("room", room_id.removeprefix("room:"), known)
            raise RefusedError(sentence, code=ErrorCode.UNKNOWN_ROOM)
        count = sum(1 for row in self.ledger.events if row.room_id == room_id)
        return RoomInfo(
            room_id=room_id,
            title=self.room_ids[room_id],
            created_at=WHEN,
            last_seq=self.ledger.last_seq,
            event_count=count,
            message_count=count,
        )

    async def send(self, request: SendMessage, source: Source) -> MessageAccepted:
        self._enter()
        self._room(request.room_id)
        self.sent.append((request, source))
        seq = self.ledger.commit(room_id=request.room_id, content=request.content)
        turns = tuple(QueuedTurn(target=t, turn_id=f"turn_{t}") for t in request.to)
        return MessageAccepted(
            message_event_id=f"evt_{seq}",
            seq=seq,
            room_id=request.room_id,
            correlation_id="corr_1",
            turns=turns,
        )

    async def cancel_turn(self, turn_id: str, client_command_id: str) -> CancelReply:
        turn = await self.turn(turn_id)
        return CancelReply(turn_id=turn.turn_id, accepted=True, status="cancelling")

    async def advise_turn(
        self, turn_id: str, client_command_id: str, content: str, source: Source
    ) -> AdviceReply:
        turn = await self.turn(turn_id)
        self.advice.append((turn.turn_id, content, source.actor_id))
        return AdviceReply(message_event_id="evt_advice", delivery="taken")

    async def take_up_again(
        self, turn_id: str, client_command_id: str, how: Again, source: Source
    ) -> MessageAccepted:
        turn = await self.turn(turn_id)
        return MessageAccepted(
            message_event_id=f"evt_{how}",
            seq=1,
            room_id=turn.room_id,
            correlation_id="corr_again",
            turns=(),
        )

    async def continue_root(
        self, correlation_id: str, client_command_id: str, source: Source
    ) -> RootContinued:
        self._enter()
        if correlation_id != "corr_1":
            raise RefusedError("There is no such root.", code=ErrorCode.UNKNOWN_EVENT)
        return RootContinued(correlation_id=correlation_id, room_id=MAIN_ROOM, continues=1)

    async def usage(
        self,
        room_id: str | None,
        correlation_id: str | None,
        actor_id: str | None,
        by: str = "agent",
        limit: int = 100,
    ) -> UsageReply:
        self._enter()
        if room_id is not None:
            self._room(room_id)
        guide = ActorUsage(actor_id="agent:guide", turns=1, total_tokens=7)
        return UsageReply(totals=UsageTotals(turns=1, total_tokens=7), actors=(guide,))

    async def restart_agent(self, actor_id: str, client_command_id: str) -> RestartReply:
        self._enter()
        if actor_id not in ("agent:guide", "guide"):
            sentence = unknown_name("agent", actor_id, ["guide"])
            raise RefusedError(sentence, code=ErrorCode.UNKNOWN_ACTOR)
        return RestartReply(actor_id="agent:guide", accepted=True)

    async def reload(self, client_command_id: str) -> ReloadReply:
        self._enter()
        return ReloadReply(added=("agent:new",), restart_required=("server.port",))

    async def create_room(self, request: CreateRoom) -> RoomReply:
        self._enter()
        room_id = request.room_id or "room:" + request.title.lower()
        if room_id in self.room_ids:
            raise RefusedError(f"There is a room {room_id}.", code=ErrorCode.ROOM_EXISTS)
        self.room_ids[room_id] = request.title
        return RoomReply(room=self._room(room_id))

    async def change_room(self, room_id: str, request: ChangeRoom) -> RoomReply:
        self._enter()
        self._room(room_id)
        self.room_ids[room_id] = request.title or self.room_ids[room_id]
        return RoomReply(room=self._room(room_id))

    async def bootstrap(self, room_id: str, limit: int) -> bytes:
        self._enter()
        rows = await self.page(room_id, None, None, None, limit, ())
        reply = BootstrapReply(
            ledger_id="f" * 32,
            through_seq=self.ledger.last_seq,
            room=self._room(room_id),
            rooms=(await self.rooms()).rooms,
            agents=(await self.agents()).agents,
            recent_events=tuple(Event.model_validate_json(row) for row in rows.events),
            has_more_before=rows.has_more_before,
            active_turns=(),
            limits={},
        )
        return reply.to_wire()

    async def page(
        self,
        room_id: str,
        before: int | None,
        after: int | None,
        around: int | None,
        limit: int,
        types: Sequence[str],
    ) -> EventRows:
        self._enter()
        self._room(room_id)
        rows = [
            row
            for row in self.ledger.events
            if row.room_id == room_id and (not types or orjson.loads(row.data)["type"] in types)
        ]
        if after is not None:
            rows = [row for row in rows if row.seq > after]
            return EventRows([row.data for row in rows[:limit]], after > 0, len(rows) > limit)
        if before is not None:
            rows = [row for row in rows if row.seq < before]
        if around is not None:
            rows = [row for row in rows if abs(row.seq - around) <= limit // 2]
        return EventRows([row.data for row in rows[-limit:]], len(rows) > limit, before is not None)

    async def event(self, event_id: str) -> bytes:
        self._enter()
        for row in self.ledger.events:
            if event_id == f"evt_{row.seq}":
                return row.data
        raise RefusedError(f"There is no event {event_id}.", code=ErrorCode.UNKNOWN_EVENT)

    async def event_text(self, event_id: str) -> TextReply:
        self._enter()
        if event_id not in self.texts:
            raise RefusedError(f"There is no event {event_id}.", code=ErrorCode.UNKNOWN_EVENT)
        return TextReply(event_id=event_id, field="content", text=self.texts[event_id])

    async def durable_after(
        self, after_seq: int, limit: int, room_id: str | None
    ) -> list[DurableFrameSource]:
        return await self.ledger.durable_after(after_seq, limit, room_id)

    async def export_rows(
        self, room_id: str | None, after_seq: int, limit: int
    ) -> list[tuple[int, bytes]]:
        self._enter()
        if room_id is not None:
            self._room(room_id)
        rows = await self.ledger.durable_after(after_seq, limit, room_id)
        return [(row.seq, row.data) for row in rows]

    async def turns(
        self,
        room_id: str | None,
        status: str,
        actor_id: str | None,
        before: int | None,
        limit: int,
    ) -> TurnList:
        self._enter()
        if room_id is not None:
            self._room(room_id)
        return TurnList(turns=(await self.turn("turn_1"),))

    async def turn(self, turn_id: str) -> TurnInfo:
        self._enter()
        if turn_id != "turn_1":
            raise RefusedError(f"There is no turn {turn_id}.", code=ErrorCode.UNKNOWN_TURN)
        return TurnInfo(
            turn_id=turn_id,
            room_id=MAIN_ROOM,
            target_actor_id="agent:guide",
            status="running",
            source_event_id="evt_1",
            correlation_id="corr_1",
            queued_at=WHEN,
        )

    async def agents(self) -> AgentList:
        self._enter()
        guide = AgentInfo(
            actor_id="agent:guide",
            display_name="Guide",
            driver="builtin",
            enabled=True,
            status="ready",
            cwd="/home/you",
        )
        return AgentList(agents=(guide,))

    async def rooms(self) -> RoomList:
        self._enter()
        return RoomList(rooms=tuple(self._room(room_id) for room_id in self.room_ids))
