"""Events as a server would write them: builders for tests of the client's state.

`RoomScript` plays a room: each method appends durable events (with rising seq) and returns them;
`live` holds the same events with the transient ones between, as a stream would bring them.
"""

from __future__ import annotations

from typing import Any

from groupx_shared.wire.events import Event, EventActor
from groupx_shared.wire.replies import (
    AgentInfo,
    BootstrapReply,
    EventPage,
    RoomInfo,
    TurnInfo,
)

MAIN = "room:main"
PERSON = EventActor(actor_id="user:web", kind="user", display_name="Operator")
SYSTEM = EventActor(actor_id="system:groupx", kind="system", display_name="GroupX")


def agent_actor(key: str) -> EventActor:
    return EventActor(actor_id=f"agent:{key}", kind="agent", display_name=key.title())


def agent_info(key: str, **changes: Any) -> AgentInfo:
    fields: dict[str, Any] = {
        "display_name": key.title(),
        "driver": "acp",
        "enabled": True,
        "status": "ready",
        "cwd": "/tmp",
        **changes,
    }
    return AgentInfo(actor_id=f"agent:{key}", **fields)


def event(
    event_type: str,
    body: dict[str, Any],
    *,
    seq: int | None = None,
    room: str = MAIN,
    actor: EventActor = SYSTEM,
    event_id: str | None = None,
    **fields: Any,
) -> Event:
    return Event(
        event_id=event_id or f"evt_{room}_{event_type}_{seq}",
        seq=seq,
        room_id=room,
        type=event_type,
        actor=actor,
        correlation_id="corr_1",
        occurred_at=f"2026-01-01T00:00:{(seq or 0) % 60:02d}.000Z",
        durability="transient" if seq is None else "durable",
        body=body,
        **fields,
    )


class RoomScript:
    """A ledger being written, of one or more rooms."""

    def __init__(self, first_seq: int = 1) -> None:
        self.next_seq = first_seq
        self.person = PERSON
        self.durable: list[Event] = []
        self.live: list[Event] = []
        self._answers: dict[str, str] = {}
        self._chunks: dict[str, int] = {}

    def write(
        self, event_type: str, body: dict[str, Any], actor: EventActor = SYSTEM, **fields: Any
    ) -> Event:
        written = event(event_type, body, seq=self.next_seq, actor=actor, **fields)
        self.next_seq += 1
        self.durable.append(written)
        self.live.append(written)
        return written

    def stream(self, event_type: str, body: dict[str, Any], key: str, room: str = MAIN) -> Event:
        sent = event(
            event_type,
            body,
            room=room,
            actor=agent_actor(key),
            event_id=f"evt_live_{len(self.live)}",
        )
        self.live.append(sent)
        return sent

    def say(
        self,
        text: str,
        to: tuple[str, ...] = (),
        room: str = MAIN,
        actor: EventActor = PERSON,
    ) -> Event:
        targets = tuple(f"agent:{key}" for key in to)
        return self.write("message.created", {"content": text}, actor, room=room, to=targets)

    def queue(self, turn: str, key: str, source: Event | None = None, room: str = MAIN) -> Event:
        body = {
            "turnId": turn,
            "sourceEventId": source.event_id if source else "evt_none",
            "targetActorId": f"agent:{key}",
            "adapterId": key,
        }
        return self.write("turn.queued", body, room=room, to=(f"agent:{key}",))

    def start(self, turn: str, key: str, room: str = MAIN) -> Event:
        body = {"turnId": turn, "attemptId": f"attempt_{turn}", "targetActorId": f"agent:{key}"}
        self.write("turn.dispatched", body, room=room)
        return self.write("turn.started", body, agent_actor(key), room=room)

    def answer_of(self, turn: str) -> str:
        """All that was streamed of a turn's answer."""
        return self._answers.get(turn, "")

    def delta(self, turn: str, key: str, text: str, room: str = MAIN) -> Event:
        before = self._answers.get(turn, "")
        self._answers[turn] = before + text
        self._chunks[turn] = self._chunks.get(turn, 0) + 1
        body = {
            "turnId": turn,
            "chunkIndex": self._chunks[turn],
            "offset": len(before),
            "text": text,
        }
        return self.stream("turn.content.delta", body, key, room)

    def reason(self, turn: str, key: str, text: str, offset: int = 0, room: str = MAIN) -> Event:
        body = {"turnId": turn, "offset": offset, "text": text}
        return self.stream("turn.reasoning.delta", body, key, room)

    def end(
        self,
        turn: str,
        key: str,
        *,
        answer: str | None = None,
        outcome: str = "completed",
        reasoning: str | None = None,
        tools: tuple[str, ...] = (),
        room: str = MAIN,
        **extra: Any,
    ) -> list[Event]:
        """The terminal group, in the server's order."""
        actor, group = agent_actor(key), []
        body: dict[str, Any] = {"turnId": turn, "status": outcome, **extra}
        if reasoning is not None:
            record = {"turnId": turn, "content": reasoning, "terminalStatus": outcome}
            group.append(self.write("turn.reasoning.recorded", record, actor, room=room))
            body["reasoningEventId"] = group[-1].event_id
        group.extend(
            self.write("tool.progress.recorded", tool_body(turn, call), actor, room=room)
            for call in tools
        )
        if outcome == "completed":
            text = self._answers.get(turn, "") if answer is None else answer
            record = {"turnId": turn, "content": text}
            group.append(self.write("message.created", record, actor, room=room))
            body["responseEventId"] = group[-1].event_id
        elif turn in self._answers:
            body["partialText"] = self._answers[turn]
        group.append(self.write(f"turn.{outcome}", body, actor, room=room))
        return group

    def whole_turn(self, turn: str, key: str, answer: str = "done", room: str = MAIN) -> None:
        self.queue(turn, key, room=room)
        self.start(turn, key, room=room)
        self.delta(turn, key, answer, room=room)
        self.end(turn, key, room=room)

    def of_room(self, room: str = MAIN) -> list[Event]:
        return [entry for entry in self.durable if entry.room_id == room]

    def room_info(self, room: str = MAIN) -> RoomInfo:
        events = self.of_room(room)
        return RoomInfo(
            room_id=room,
            title=room.removeprefix("room:"),
            created_at="2026-01-01T00:00:00.000Z",
            last_seq=events[-1].seq or 0 if events else 0,
            event_count=len(events),
            message_count=sum(entry.type == "message.created" for entry in events),
        )

    def bootstrap(
        self,
        room: str = MAIN,
        *,
        limit: int = 100,
        active: tuple[TurnInfo, ...] = (),
        agents: tuple[AgentInfo, ...] = (),
        ledger_id: str = "ledger_1",
    ) -> BootstrapReply:
        events = self.of_room(room)
        rooms = dict.fromkeys([MAIN, *(entry.room_id for entry in self.durable)])
        return BootstrapReply(
            ledger_id=ledger_id,
            through_seq=self.next_seq - 1,
            room=self.room_info(room),
            rooms=tuple(self.room_info(each) for each in rooms),
            agents=agents,
            recent_events=tuple(events[-limit:] if limit else ()),
            has_more_before=len(events) > limit,
            active_turns=active,
            limits={"messageCharacters": 1_000},
        )

    def page(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
        room: str = MAIN,
    ) -> EventPage:
        """The page a server would send: the newest before, else the oldest after."""
        events = self.of_room(room)
        if before is not None:
            chosen = [entry for entry in events if (entry.seq or 0) < before][-limit:]
        elif after is not None:
            chosen = [entry for entry in events if (entry.seq or 0) > after][:limit]
        else:
            chosen = events[-limit:]
        return self.page_of(chosen, room, default_after=after, default_before=before)

    def page_of(
        self,
        chosen: list[Event],
        room: str = MAIN,
        *,
        default_after: int | None = None,
        default_before: int | None = None,
    ) -> EventPage:
        seqs = [entry.seq or 0 for entry in self.of_room(room)]
        first = chosen[0].seq if chosen else default_before
        last = chosen[-1].seq if chosen else default_after
        return EventPage(
            room_id=room,
            events=tuple(chosen),
            has_more_before=first is not None and any(seq < first for seq in seqs),
            has_more_after=last is not None and any(seq > last for seq in seqs),
        )


def tool_body(turn: str, call: str, *, ended: bool = True, **details: Any) -> dict[str, Any]:
    return {
        "turnId": turn,
        "toolCallId": call,
        "nativeType": "tool.completed" if ended else "tool.started",
        "details": {"title": f"Run {call}", "kind": "execute", "status": "completed", **details},
    }


def turn_info(turn: str, key: str, **changes: Any) -> TurnInfo:
    fields: dict[str, Any] = {
        "room_id": MAIN,
        "status": "running",
        "source_event_id": "evt_none",
        "correlation_id": "corr_1",
        "queued_at": "2026-01-01T00:00:00.000Z",
        **changes,
    }
    return TurnInfo(turn_id=turn, target_actor_id=f"agent:{key}", **fields)
